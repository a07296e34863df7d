import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchContext, Row } from './bench.ts';
import { outputOf, startProgram } from './child-program.ts';
import { BURST_2000, pacedUrl, startPacedServer } from './paced-server.ts';
import { median } from '../core/stats/percentiles.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const SECONDS = 30;
/** Left out at the beginning: connections open and code is compiled. */
const WARM_SECONDS = 8;
const SAMPLE_EVERY_MS = 250;
const TARGET = { by: 'value', atMost: 200 } as const;

/**
 * The question: how much memory does a run of 2,000 streams take?
 * Measured: the resident set of `llmbench run`, as the kernel reports it, while the load lasts, without forced garbage collection.
 * It does not show: what the result needs after the run, nor whether it grows (bench `memory`).
 */
export const residentSet: Bench = {
  name: 'resident-set',
  question: 'how much memory does a run of 2,000 streams take?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const server = await startPacedServer(context.workshop);
    try {
      const runs: number[][] = [];
      for (let round = 0; round < context.rounds; round++) runs.push(await watchedRun(server.port, context));
      const row = (what: string, read: (samples: readonly number[]) => number, target: Row['target']): Row => ({
        what,
        unit: 'MB',
        ours: runs.map(read),
        peer: null,
        target,
      });
      return [
        row('resident set at 2,000 streams, median over time', median, TARGET),
        row('resident set at 2,000 streams, largest', (samples) => Math.max(...samples), null),
      ];
    } finally {
      await server.stop();
    }
  },
};

async function watchedRun(port: number, { workshop }: BenchContext): Promise<number[]> {
  const runsDirectory = await mkdtemp(join(workshop.folder, 'resident-set-'));
  const options = {
    url: pacedUrl(port, BURST_2000),
    model: 'm',
    concurrency: BURST_2000.streams,
    'benchmark-duration': SECONDS,
    'benchmark-grace-period': 0,
    'runs-dir': runsDirectory,
    isl: 40,
    osl: BURST_2000.tokens,
    // Served as in practice; nothing scrapes it, so the run does not wait.
    'metrics-port': 0,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = startProgram(process.execPath, [LAUNCHER, 'run', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const start_ms = performance.now();
  const samples: number[] = [];
  const sampling = setInterval(() => {
    const seconds = (performance.now() - start_ms) / 1000;
    if (child.pid !== undefined && seconds > WARM_SECONDS && seconds < SECONDS)
      samples.push(residentMegabytes(child.pid));
  }, SAMPLE_EVERY_MS);
  try {
    await outputOf(child, 'llmbench run');
  } finally {
    clearInterval(sampling);
    await rm(runsDirectory, { recursive: true, force: true });
  }
  return samples;
}

/** VmRSS of proc(5), in MB. */
function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error('the kernel does not report the resident set');
  return (Number(kilobytes) * 1024) / 1e6;
}
