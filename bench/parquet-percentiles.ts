import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext, Row } from './bench.ts';
import { Unavailable } from './bench.ts';
import { lastJsonLine, numberOf, runProgram } from './child-program.ts';
import { inTurn } from './in-turn.ts';
import { makeStoredTimes } from './stored-times.ts';

const OURS = fileURLToPath(new URL('percentiles-program.ts', import.meta.url));
const POLARS = fileURLToPath(new URL('percentiles-polars.py', import.meta.url));
const REQUESTS = 5_000_000;
const INSTALL_SECONDS = 300;
/** Both are exact: what differs is the order of two roundings. */
const TOLERANCE = 1e-12;

/**
 * The question: what do p50, p90 and p99 of five measures of 5 million stored requests cost?
 * Compared: our reading of columns with polars' lazy scan and its `quantile`, on the same file; wall time from the opening
 * of the file, CPU time of the whole process with its start, all threads.
 * It does not tell: a file that is not in the page cache; the columns of tokens and outcomes; polars on many cores.
 */
export const parquetPercentiles: Bench = {
  name: 'percentiles',
  question: 'what do percentiles of 5 million stored requests cost, beside polars?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const path = join(context.workshop.folder, 'times.parquet');
    try {
      await makeStoredTimes(path, REQUESTS);
      const python = await polarsPython(context.workshop.folder).catch((error: unknown) => {
        context.skipped('polars', error instanceof Error ? error.message : String(error));
        return null;
      });
      const measured = await inTurn(
        context.rounds,
        {
          llmbench: () => answer(process.execPath, [OURS, path]),
          ...(python === null ? {} : { polars: () => answer(python, [POLARS, path]) }),
        },
        context,
      );
      checkValues(measured.get('llmbench')?.[0], measured.get('polars')?.[0], context);
      return rowsOf(measured.get('llmbench') ?? [], measured.get('polars') ?? null);
    } finally {
      await rm(path, { force: true });
    }
  },
};

interface Answer {
  readonly wall_ms: number;
  readonly cpu_ms: number;
  readonly max_rss_mb: number;
  readonly values: readonly number[];
}

async function answer(command: string, args: readonly string[]): Promise<Answer> {
  const { stdout } = await runProgram(command, args);
  const line = lastJsonLine(stdout);
  return {
    wall_ms: numberOf(line, 'wall_ms'),
    cpu_ms: numberOf(line, 'cpu_ms'),
    max_rss_mb: numberOf(line, 'max_rss_mb'),
    values: line.values as readonly number[],
  };
}

/** Who finds other percentiles did other work. */
function checkValues(ours: Answer | undefined, peer: Answer | undefined, context: BenchContext): void {
  if (ours === undefined || peer === undefined) return;
  const differs = ours.values.some((value, i) => Math.abs(value - (peer.values[i] ?? NaN)) > TOLERANCE * value);
  if (differs || ours.values.length !== peer.values.length) context.failed('percentiles', 'polars finds other values');
}

function rowsOf(ours: readonly Answer[], peer: readonly Answer[] | null): Row[] {
  if (ours.length === 0) return [];
  const row = (what: string, unit: string, read: (answer: Answer) => number, atMost: number | null): Row => ({
    what,
    unit,
    ours: ours.map(read),
    peer: peer?.map(read) ?? null,
    target: atMost === null || peer === null ? null : { by: 'ratio', atMost },
  });
  return [
    row('percentiles of five measures ÷ polars, wall', 'ms', ({ wall_ms }) => wall_ms, 1),
    row('percentiles of five measures ÷ polars, CPU', 'ms', ({ cpu_ms }) => cpu_ms, 1),
    row('peak memory', 'MB', ({ max_rss_mb }) => max_rss_mb, null),
  ];
}

/** A Python of its own with polars. Throws `Unavailable`. */
async function polarsPython(folder: string): Promise<string> {
  const venv = join(folder, 'polars');
  const python = join(venv, 'bin/python');
  try {
    await runProgram('python3', ['-m', 'venv', venv]);
    await runProgram(python, ['-m', 'pip', 'install', '--quiet', '--timeout', '15', '--retries', '1', 'polars'], {
      timeoutSeconds: INSTALL_SECONDS,
    });
    return python;
  } catch (error) {
    throw new Unavailable(`polars cannot be installed here: ${(error as Error).message}`, { cause: error });
  }
}
