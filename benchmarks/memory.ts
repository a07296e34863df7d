import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, BenchContext, Row } from './bench.ts';
import { BURST_512, pacedUrl, startPacedServer } from './paced-server.ts';
import { afterWarmup, medianOf, outerThirds, tenths, watchCommand, type Reading } from './watched-command.ts';

const FLAT = { by: 'ratio', atMost: 1.1 } as const;

/**
 * The question: does a long run need more memory than a short one?
 * Compared: `llmbench run` at 512 streams of 50 chunks/s with itself, the last third of the time after the warm-up with
 * the first third; garbage is collected before each reading. "Held" is the JavaScript heap and what it holds outside.
 * It does not show: the peak between two collections, nor what the result needs after the run (records are read back).
 */
export const memory: Bench = {
  name: 'memory',
  question: 'does a run of 512 streams need more memory the longer it lasts?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const server = await startPacedServer(context.workshop);
    const runsDirectory = await mkdtemp(join(context.workshop.folder, 'memory-'));
    try {
      const { readings, requests } = await watchedRun(server.port, runsDirectory, context.minutes);
      context.note(`${readings.length} readings over ${context.minutes} min, ${requests} requests`);
      context.note(`resident set over time, MB: ${overTime(readings, (reading) => reading.rss_mb)}`);
      context.note(`held over time, MB: ${overTime(readings, (reading) => reading.held_mb)}`);
      return rowsOf(readings, requests / (context.minutes * 60));
    } finally {
      await server.stop();
      await rm(runsDirectory, { recursive: true, force: true });
    }
  },
};

async function watchedRun(
  port: number,
  runsDirectory: string,
  minutes: number,
): Promise<{ readings: Reading[]; requests: number }> {
  const options = {
    url: pacedUrl(port, BURST_512),
    model: 'm',
    concurrency: BURST_512.streams,
    'benchmark-duration': minutes * 60,
    'runs-dir': runsDirectory,
    isl: 40,
    osl: BURST_512.tokens,
    // Served as in practice; nothing scrapes it, so the run does not wait.
    'metrics-port': 0,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const readings: Reading[] = [];
  // What comes after the duration is the run's end, not the run.
  const read = (reading: Reading): void => {
    if (reading.seconds <= minutes * 60) readings.push(reading);
  };
  const stdout = await watchCommand(['run', '--json', ...args], read, ['--expose-gc']).ended;
  const { requests } = JSON.parse(stdout) as { requests: { ok: number; error: number } };
  if (requests.error > 0) throw new Error(`${requests.error} requests failed`);
  return { readings, requests: requests.ok };
}

function rowsOf(all: readonly Reading[], requestsPerSecond: number): Row[] {
  const readings = afterWarmup(all);
  const { first, last } = outerThirds(all);
  const rows = (what: string, read: (reading: Reading) => number): Row[] => [
    {
      what: `${what}, last third ÷ first third`,
      unit: 'MB',
      ours: [medianOf(last, read)],
      peer: [medianOf(first, read)],
      target: FLAT,
    },
    information(`${what}, slope`, 'MB/min', slopeOf(readings, read) * 60),
  ];
  return [
    ...rows('resident set', (reading) => reading.rss_mb),
    ...rows('held after collection', (reading) => reading.held_mb),
    information(
      'held more per finished request',
      'bytes',
      (slopeOf(readings, (r) => r.held_mb) * 1e6) / requestsPerSecond,
    ),
  ];
}

/** Medians of ten equal parts of the time, in order: whether it levels off. */
function overTime(readings: readonly Reading[], read: (reading: Reading) => number): string {
  const medians = tenths(readings).map((part) => medianOf(part, read));
  return medians.map((value) => (Number.isNaN(value) ? '–' : value.toFixed(0))).join(' ');
}

/** Megabytes per second. */
function slopeOf(readings: readonly Reading[], read: (reading: Reading) => number): number {
  return slope(readings.map((reading) => ({ x: reading.seconds, y: read(reading) })));
}

function information(what: string, unit: string, value: number): Row {
  return { what, unit, ours: [value], peer: null, target: null };
}

/** Slope of the least-squares line through the points. */
function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (read: (point: { x: number; y: number }) => number): number =>
    points.reduce((sum, point) => sum + read(point), 0) / points.length;
  const x0 = mean((point) => point.x);
  const y0 = mean((point) => point.y);
  const covariance = mean((point) => (point.x - x0) * (point.y - y0));
  return covariance / mean((point) => (point.x - x0) ** 2);
}
