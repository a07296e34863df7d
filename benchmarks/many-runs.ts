import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { Bench, BenchContext, Row } from './bench.ts';
import { startProgram } from './child-program.ts';
import { writeFinishedRuns } from './finished-runs.ts';

const LAUNCHER = fileURLToPath(new URL('../bin/llmbench.js', import.meta.url));
const RUNS = 10_000;
const FIRST_PAGE_TARGET_MS = 1_000;
const MEMORY_TARGET_MB = 300;

/**
 * The question: when does `llmbench serve` show the first page of 10,000 runs?
 * Measured: from the start of the process to the end of the response of `/api/v1/runs`, first without an index in the runs
 * directory and then with that of the process before; and the resident set after this response and a scrape.
 * It does not show: results larger than the 28 kB of these, without an index; a slow disk; object storage.
 */
export const manyRuns: Bench = {
  name: 'many-runs',
  question: 'when does serve show the first page of 10,000 runs, and how much memory does it take?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const folder = await mkdtemp(join(context.workshop.folder, 'many-runs-'));
    try {
      await writeFinishedRuns(folder, RUNS);
      const index = join(folder, '.index.sqlite');
      const cold: Served[] = [];
      const warm: Served[] = [];
      for (let round = 0; round < context.rounds; round++) {
        await rm(index, { force: true });
        cold.push(await servedOnce(folder));
        warm.push(await servedOnce(folder));
      }
      const row = (what: string, unit: Row['unit'], ours: number[], atMost: number | null): Row => ({
        ...{ what, unit, ours, peer: null },
        target: atMost === null ? null : { by: 'value', atMost },
      });
      const firstPage = (all: readonly Served[]): number[] => all.map(({ firstPage_ms }) => firstPage_ms);
      return [
        row(`first page of ${RUNS} runs after the start, no index`, 'ms', firstPage(cold), null),
        row('the same with an index', 'ms', firstPage(warm), FIRST_PAGE_TARGET_MS),
        row(
          'resident set after that and a scrape',
          'MB',
          warm.map(({ resident_mb }) => resident_mb),
          MEMORY_TARGET_MB,
        ),
      ];
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

interface Served {
  readonly firstPage_ms: number;
  readonly resident_mb: number;
}

async function servedOnce(folder: string): Promise<Served> {
  const begun_ms = performance.now();
  const child = startProgram(process.execPath, [LAUNCHER, 'serve', '--runs-dir', folder, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('serve has no output');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  await get(`${url}/api/v1/runs`);
  const firstPage_ms = performance.now() - begun_ms;
  await get(`${url}/metrics`);
  const resident_mb = residentMegabytes(child.pid ?? 0);
  child.kill('SIGTERM');
  await once(child, 'exit');
  return { firstPage_ms, resident_mb };
}

async function get(url: string): Promise<void> {
  const { statusCode, body } = await request(url);
  await body.dump({ limit: Infinity });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
}

/** Of a process, by Linux' proc(5). */
function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
}
