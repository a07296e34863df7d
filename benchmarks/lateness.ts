import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ResultFile } from '../core/run/result.ts';
import type { Bench, BenchContext, Row } from './bench.ts';
import { lastJsonLine, numberOf, runProgram } from './child-program.ts';
import { inTurn } from './in-turn.ts';
import { ONE_CHUNK, pacedUrl, startPacedServer } from './paced-server.ts';
import { peer } from './workshop.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const RATES = [1000, 5000] as const;
const SECONDS = 4;
const MEDIAN_MS = { by: 'value', atMost: 0.3 } as const;
const NEVER_EARLY = { by: 'value', atMost: 0 } as const;

/**
 * The question: how much later than due does an open-loop request start?
 * Compared, Poisson arrivals at 1,000 and 5,000 requests per second with answers of one chunk: the schedule delay that
 * `llmbench run` reports, and a bare clock thread with `Atomics.waitAsync` that sends nothing at all.
 * It does not show: when the bytes were on the wire, which is after the start.
 */
export const lateness: Bench = {
  name: 'lateness',
  question: 'how much later than due does an open-loop request start?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const server = await startPacedServer(context.workshop);
    const runsDirectory = await mkdtemp(join(context.workshop.folder, 'lateness-'));
    try {
      const rows: Row[] = [];
      for (const rate of RATES)
        rows.push(...(await rowsAt(rate, pacedUrl(server.port, ONE_CHUNK), runsDirectory, context)));
      return rows;
    } finally {
      await server.stop();
      await rm(runsDirectory, { recursive: true, force: true });
    }
  },
};

interface Lateness {
  readonly earliest_ms: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

async function rowsAt(rate: number, url: string, runsDirectory: string, context: BenchContext): Promise<Row[]> {
  const measured = await inTurn(
    context.rounds,
    {
      ours: () => ourLateness(rate, url, runsDirectory),
      clock: () => clockLateness(rate),
    },
    context,
  );
  const ours = measured.get('ours');
  if (ours === undefined) return [];
  const clock = measured.get('clock') ?? null;
  const at = `at ${rate.toLocaleString('en-US')} requests/s`;
  return [
    {
      what: `start later than due ${at}, p50`,
      unit: 'ms',
      ours: ours.map((each) => each.p50_ms),
      peer: clock?.map((each) => each.p50_ms) ?? null,
      target: MEDIAN_MS,
    },
    {
      what: `start later than due ${at}, p99`,
      unit: 'ms',
      ours: ours.map((each) => each.p99_ms),
      peer: clock?.map((each) => each.p99_ms) ?? null,
      target: null,
    },
    {
      what: `earlier than due ${at}, at most`,
      unit: 'ms',
      ours: ours.map((each) => Math.max(0, -each.earliest_ms)),
      peer: null,
      target: NEVER_EARLY,
    },
  ];
}

async function ourLateness(rate: number, url: string, runsDirectory: string): Promise<Lateness> {
  const options = {
    url,
    model: 'm',
    'request-rate': rate,
    'request-count': rate * SECONDS,
    isl: 40,
    osl: 1,
    'runs-dir': runsDirectory,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { stdout } = await runProgram(process.execPath, [LAUNCHER, 'run', '--json', '--no-server-metrics', ...args]);
  const result = JSON.parse(stdout) as ResultFile;
  const delay = result.measures.find(({ measure }) => measure === 'schedule_delay');
  if (delay?.kind !== 'distribution') throw new Error('the result has no schedule delay');
  const ms = (seconds: number | null | undefined): number => (seconds ?? NaN) * 1000;
  return {
    earliest_ms: ms(delay.min),
    p50_ms: ms(delay.percentiles.p50.value),
    p99_ms: ms(delay.percentiles.p99.value),
  };
}

async function clockLateness(rate: number): Promise<Lateness> {
  const { stdout } = await runProgram(process.execPath, [peer('clock-lateness.mjs'), String(rate), String(SECONDS)]);
  const line = lastJsonLine(stdout);
  return { earliest_ms: 0, p50_ms: numberOf(line, 'p50_ms'), p99_ms: numberOf(line, 'p99_ms') };
}
