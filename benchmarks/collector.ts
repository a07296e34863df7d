import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext, Row } from './bench.ts';
import { unlessUnavailable } from './unless-unavailable.ts';
import { lastJsonLine, numberOf, runProgram } from './child-program.ts';
import type { JsonLine } from './child-program.ts';
import { inTurn } from './in-turn.ts';
import { PAGE_BYTES, startMetricsPages } from './metrics-pages.ts';
import type { MetricsPages } from './metrics-pages.ts';
import { BURST_512, clientArguments, clientEnvironment, startPacedServer } from './paced-server.ts';
import { median } from '../core/stats/percentiles.ts';

const PROGRAM = fileURLToPath(new URL('collector-program.ts', import.meta.url));
const CLIENT = fileURLToPath(new URL('stream-client.ts', import.meta.url));
const TARGETS = 20;
const INTERVAL_MS = 333;
const WARM_SECONDS = 3;
const SECONDS = 8;
const KIND = `${TARGETS} targets of ${PAGE_BYTES / 1000} KB`;

/**
 * The question: what does collecting the servers' metrics cost, and does it disturb the measurement?
 * Compared: the CPU of a process that does nothing but collect, with one core; and the time-stamp error of the whole
 * program at 512 streams, with all targets read every second (the default) and with none. A page has 150 KB, and every value
 * on it differs from the scrape before, which real pages do not reach.
 * It does not show: what a scrape costs the server, nor the cost of pages whose lines change (bench exposition). Where the
 * machine is so busy that the collector backs off, it costs less because it reads less: the notes say how much it read.
 */
export const collector: Bench = {
  name: 'collector',
  question: `what does collecting the metrics of ${TARGETS} servers cost, and does it delay the reading of ${BURST_512.streams} streams?`,
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const pages = await startMetricsPages(context.workshop);
    try {
      return [...(await costRows(pages, context)), ...(await disturbanceRows(pages, context))];
    } finally {
      await pages.stop();
    }
  },
};

async function costRows(pages: MetricsPages, context: BenchContext): Promise<Row[]> {
  const args = [INTERVAL_MS, WARM_SECONDS, SECONDS].map(String);
  const measured = await inTurn(
    context.rounds,
    {
      'the collector alone': async () => {
        const { stdout } = await runProgram(process.execPath, [PROGRAM, ...args, ...pages.urls(TARGETS)]);
        const line = lastJsonLine(stdout);
        if (numberOf(line, 'failed') > 0) throw new Error(`${numberOf(line, 'failed')} scrapes failed`);
        return line;
      },
    },
    context,
  );
  const lines = measured.get('the collector alone');
  if (lines === undefined) return [];
  context.note(pace(lines));
  const row = (what: string, unit: string, key: string, atMost: number | null): Row => ({
    what: `${KIND}, every ${INTERVAL_MS} ms: ${what}`,
    unit,
    ours: lines.map((line) => numberOf(line, key)),
    peer: null,
    target: atMost === null ? null : { by: 'value', atMost },
  });
  return [
    row('CPU of the process, share of a core', '%', 'cpu_percent', 15),
    row('of that receiving, parsing and storing', '%', 'busy_percent', null),
    row('CPU per scrape', 'ms', 'cpu_ms_per_scrape', null),
  ];
}

/** How far it fell behind its pace: the cost is that of the scrapes that were made. */
function pace(lines: readonly JsonLine[]): string {
  const planned = Math.round((TARGETS * SECONDS * 1000) / INTERVAL_MS);
  const middle = (key: string): number => Math.round(median(lines.map((line) => numberOf(line, key))));
  return (
    `${KIND}: ${middle('scrapes')} of ${planned} scrapes made, ${middle('skipped')} ticks left out because the collector ` +
    `backed off or an answer was late; longest interval at the end ${middle('longest_interval_ms')} ms (medians)`
  );
}

interface Disturbance {
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly p999_ms: number;
}

async function disturbanceRows(pages: MetricsPages, context: BenchContext): Promise<Row[]> {
  const server = await unlessUnavailable(
    context,
    'collecting while streams are read',
    startPacedServer(context.workshop),
  );
  if (server === null) return [];
  const reading = async (metrics: readonly string[]): Promise<Disturbance> => {
    const flags = metrics.length === 0 ? ['--no-server-metrics'] : metrics.flatMap((url) => ['--server-metrics', url]);
    const args = [CLIENT, ...flags, ...clientArguments(server.port, BURST_512, WARM_SECONDS, SECONDS)];
    const { stdout } = await runProgram(process.execPath, args, {
      env: clientEnvironment(context.workshop, BURST_512),
    });
    const line = lastJsonLine(stdout);
    if (numberOf(line, 'failed') > 0) throw new Error(`${numberOf(line, 'failed')} requests failed`);
    const [p50_ms, p99_ms, p999_ms] = ['err_p50_ms', 'err_p99_ms', 'err_p999_ms'].map((key) => numberOf(line, key));
    return { p50_ms: p50_ms ?? NaN, p99_ms: p99_ms ?? NaN, p999_ms: p999_ms ?? NaN };
  };
  try {
    const measured = await inTurn(
      context.rounds,
      { off: () => reading([]), 'collecting every second': () => reading(pages.urls(TARGETS)) },
      context,
    );
    const off = measured.get('off');
    const on = measured.get('collecting every second');
    return on === undefined || off === undefined ? [] : errorRows(on, off);
  } finally {
    await server.stop();
  }
}

function errorRows(on: readonly Disturbance[], off: readonly Disturbance[]): Row[] {
  const row = (name: string, read: (each: Disturbance) => number, atMost: number | null): Row => ({
    what: `time-stamp error ${name} at ${BURST_512.streams} streams, ${KIND} every second ÷ collector off`,
    unit: 'ms',
    ours: on.map(read),
    peer: off.map(read),
    target: atMost === null ? null : { by: 'ratio', atMost },
  });
  return [
    row('p50', ({ p50_ms }) => p50_ms, 1.1),
    row('p99', ({ p99_ms }) => p99_ms, 1.1),
    row('p99.9', ({ p999_ms }) => p999_ms, null),
  ];
}
