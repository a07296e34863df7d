import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext, Row } from './bench.ts';
import { jsonLines, numberOf, runProgram } from './child-program.ts';
import { inTurn } from './in-turn.ts';
import { makeStoredRuns } from './stored-runs.ts';

const PROGRAM = fileURLToPath(new URL('store-program.ts', import.meta.url));
const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const RUNS = 10_000;
const LISTED = 20;
const MAKING_SECONDS = 600;

/**
 * The question: what do a list of 10,000 runs and the history of one of their measures cost?
 * Compared: the index, as it is when nothing has changed since the last query, with reading every run.json (and
 * result.json); each in a process of its own, without the loading of the program. The command as a whole is beside it.
 * It does not show: a disk that is not in the page cache, or a network file system.
 */
export const store: Bench = {
  name: 'store',
  question: `what do a list of ${RUNS} runs and the history of a measure cost?`,
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const directory = join(context.workshop.folder, 'runs');
    try {
      await makeStoredRuns(directory, RUNS);
      const first = { list: await measure('list', directory), history: await measure('history', directory) };
      const size = (await stat(join(directory, '.index.sqlite'))).size;
      context.note(
        `the index is made in ${seconds(first.list.wall_ms)} for lists and ${seconds(first.history.wall_ms)} more for histories, ` +
          `${(size / 1e6).toFixed(0)} MB`,
      );
      return await measured(directory, context);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function measured(directory: string, context: BenchContext): Promise<Row[]> {
  const times = await inTurn(
    context.rounds,
    {
      list: () => measure('list', directory),
      'naive-list': () => measure('naive-list', directory),
      history: () => measure('history', directory),
      'naive-history': () => measure('naive-history', directory),
      command: () => command(directory),
    },
    context,
  );
  const row = (what: string, ours: string, peer: string, by: keyof Times, atMost: number | null): Row[] => {
    const found = times.get(ours);
    if (found === undefined) return [];
    const target = atMost === null ? null : ({ by: 'value', atMost } as const);
    const others = times.get(peer)?.map((each) => each[by]) ?? null;
    return [{ what, unit: 'ms', ours: found.map((each) => each[by]), peer: others, target }];
  };
  return [
    ...row(`list of ${RUNS} runs ÷ reading every run.json, wall`, 'list', 'naive-list', 'wall_ms', 200),
    ...row(`list of ${RUNS} runs ÷ reading every run.json, CPU`, 'list', 'naive-list', 'cpu_ms', null),
    ...row('history of a measure ÷ reading every result.json, wall', 'history', 'naive-history', 'wall_ms', 500),
    ...row('history of a measure ÷ reading every result.json, CPU', 'history', 'naive-history', 'cpu_ms', null),
    ...row('`llmbench runs list` as a whole, wall', 'command', '', 'wall_ms', null),
  ];
}

interface Times {
  readonly wall_ms: number;
  /** Of all threads; NaN: not known. */
  readonly cpu_ms: number;
}

async function measure(question: string, directory: string): Promise<Times> {
  const { stdout } = await runProgram(process.execPath, [PROGRAM, question, directory], {
    timeoutSeconds: MAKING_SECONDS,
  });
  const [line] = jsonLines(stdout);
  if (line === undefined) throw new Error(`${question}: no answer`);
  const n = numberOf(line, 'n');
  const expected = question.endsWith('list') ? LISTED : RUNS;
  if (n !== expected) throw new Error(`${question}: ${n} of ${expected}`);
  return { wall_ms: numberOf(line, 'ms'), cpu_ms: numberOf(line, 'cpu_ms') };
}

async function command(directory: string): Promise<Times> {
  const begin = performance.now();
  await runProgram(process.execPath, [LAUNCHER, 'runs', 'list', '--runs-dir', directory]);
  return { wall_ms: performance.now() - begin, cpu_ms: NaN };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
