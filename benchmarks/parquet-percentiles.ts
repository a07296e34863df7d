import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext, Row } from './bench.ts';
import { peer } from './workshop.ts';
import { lastJsonLine, runProgram } from './child-program.ts';
import { inTurn } from './in-turn.ts';
import { makeStoredRuns } from './stored-runs.ts';
import { makeStoredTimes } from './stored-times.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const REQUESTS = 5_000_000;
/** Both are exact: what differs is the order of two roundings. */
const TOLERANCE = 1e-12;
/** The same measures as in the other program. */
const MEASURES = [
  'first_content_ns - sent_ns',
  'last_content_ns - sent_ns',
  'last_content_ns - due_ns',
  'last_content_ns - first_content_ns',
  'sent_ns - due_ns',
];
const SQL = `SELECT ${MEASURES.map((measure) => `quantile_cont(${measure}, [0.5, 0.9, 0.99])`).join(', ')} FROM records`;

/**
 * The question: what do p50, p90 and p99 of five measures of 5 million stored requests cost?
 * Compared: `llmbench runs query` with polars' lazy scan and its `quantile`, on the same file; wall time of the whole
 * commands, with their starts.
 * It does not show: a file that is not in the page cache; the columns of tokens and outcomes; a machine with many cores.
 */
export const parquetPercentiles: Bench = {
  name: 'percentiles',
  question: 'what do percentiles of 5 million stored requests cost, beside polars?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const runs = await mkdtemp(join(context.workshop.folder, 'percentiles-'));
    try {
      const records = await longRun(runs);
      const query = ['runs', 'query', SQL, '--json', '--runs-dir', runs];
      const measured = await inTurn(
        context.rounds,
        {
          llmbench: () => answer(process.execPath, [LAUNCHER, ...query]),
          polars: async () => answer(await context.workshop.python(), [peer('percentiles-polars.py'), records]),
        },
        context,
      );
      checkValues(measured.get('llmbench')?.[0], measured.get('polars')?.[0], context);
      return rowsOf(measured.get('llmbench') ?? [], measured.get('polars') ?? null);
    } finally {
      await rm(runs, { recursive: true, force: true });
    }
  },
};

/** Makes a run of that many requests, and returns the path of its records. */
async function longRun(runsDirectory: string): Promise<string> {
  await makeStoredRuns(runsDirectory, 1);
  const [run = ''] = await readdir(runsDirectory);
  const folder = join(runsDirectory, run, 'records');
  await mkdir(folder);
  const path = join(folder, '0.parquet');
  await makeStoredTimes(path, REQUESTS);
  return path;
}

interface Answer {
  readonly wall_ms: number;
  readonly values: readonly number[];
}

/** Of a program that prints the percentiles as JSON. */
async function answer(command: string, args: readonly string[]): Promise<Answer> {
  const start_ms = performance.now();
  const { stdout } = await runProgram(command, args);
  const wall_ms = performance.now() - start_ms;
  return { wall_ms, values: Object.values(lastJsonLine(stdout)).flat().map(Number) };
}

/** Who finds other percentiles did other work. */
function checkValues(ours: Answer | undefined, peer: Answer | undefined, context: BenchContext): void {
  if (ours === undefined || peer === undefined) return;
  const differs = ours.values.some((value, i) => !(Math.abs(value - (peer.values[i] ?? NaN)) <= TOLERANCE * value));
  if (differs || ours.values.length !== peer.values.length) context.failed('percentiles', 'polars finds other values');
}

function rowsOf(ours: readonly Answer[], peer: readonly Answer[] | null): Row[] {
  if (ours.length === 0) return [];
  return [
    {
      what: 'percentiles of five measures ÷ polars',
      unit: 'ms',
      ours: ours.map(({ wall_ms }) => wall_ms),
      peer: peer?.map(({ wall_ms }) => wall_ms) ?? null,
      target: peer === null ? null : { by: 'ratio', atMost: 1 },
    },
  ];
}
