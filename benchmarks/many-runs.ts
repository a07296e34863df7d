import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import type { RunsResponse } from '../core/api/runs.ts';
import { ObjectStorage } from '../exporter/store/object-storage/object-storage.ts';
import { packRuns } from '../exporter/store/object-storage/run-packs.ts';
import { startS3 } from '../exporter/store/object-storage/testing/s3-server.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { parseStorageUrl } from '../exporter/store/storage-location.ts';
import { ensureVersitygw } from '../scripts/versitygw.mjs';
import type { Bench, BenchContext, Row } from './bench.ts';
import { startProgram } from './child-program.ts';
import { writeFinishedRuns } from './finished-runs.ts';
import { Unavailable } from './workshop.ts';

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

const BUCKET_FIRST_PAGE_TARGET_MS = 5_000;
const BUCKET_WHOLE_LIST_TARGET_MS = 60_000;
const PAGE_EVERY_MS = 1_000;

/**
 * The question: when does `llmbench serve` show 10,000 runs of a bucket, with an empty cache, and what does it cost?
 * Measured: from the start of the process to the first page with runs and to the page that counts all of them, while the list
 * is requested each second; and the CPU time of the process until then, which others on this machine do not change.
 * It does not show: a storage that is far away; the request that wait longest is that of the first page.
 */
export const runsInBucket: Bench = {
  name: 'runs-in-bucket',
  question:
    'when does serve show 10,000 runs of object storage with an empty cache, and how much CPU time does it take?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const program = ensureVersitygw({ install: true });
    if (program === null) throw new Unavailable('versitygw, the S3 server, is missing');
    const server = await startS3(program);
    try {
      await fillBucket(server.folder, `s3://${server.bucket}`, server.url);
      const all: Filled[] = [];
      for (let round = 0; round < context.rounds; round++) {
        await rm(server.env['LLMBENCH_CACHE_DIR'] ?? '', { recursive: true, force: true });
        all.push(await filledOnce(`s3://${server.bucket}`, server.env));
      }
      const row = (what: string, key: keyof Filled, unit: Row['unit'], atMost: number | null): Row => ({
        ...{ what, unit, ours: all.map((filled) => filled[key]), peer: null },
        target: atMost === null ? null : { by: 'value', atMost },
      });
      return [
        row('first page with runs after the start', 'firstPage_ms', 'ms', BUCKET_FIRST_PAGE_TARGET_MS),
        row(`list of all ${RUNS} runs after the start`, 'wholeList_ms', 'ms', BUCKET_WHOLE_LIST_TARGET_MS),
        row('CPU time of serve until then', 'cpu_ms', 'ms', null),
        row('longest response of the list', 'longest_ms', 'ms', null),
        row('resident set then', 'resident_mb', 'MB', null),
      ];
    } finally {
      await server.stop();
    }
  },
};

/** The objects of the runs are written as the files that the server keeps them in; the packs as those who push write them. */
async function fillBucket(folder: string, url: string, endpoint: string): Promise<void> {
  await writeFinishedRuns(folder, RUNS);
  const { store } = await openStore(folder);
  await ObjectStorage.use(parseStorageUrl(url), { endpoint, addressing: 'auto' }, async (storage) =>
    packRuns(storage, store, await store.names()),
  );
}

interface Filled {
  readonly firstPage_ms: number;
  readonly wholeList_ms: number;
  readonly cpu_ms: number;
  readonly longest_ms: number;
  readonly resident_mb: number;
}

async function filledOnce(runs: string, env: Readonly<Record<string, string>>): Promise<Filled> {
  const begun_ms = performance.now();
  const { child, url } = await startServe(runs, env);
  let firstPage_ms: number | null = null;
  let longest_ms = 0;
  for (;;) {
    const asked_ms = performance.now();
    const { total } = JSON.parse(await get(`${url}/api/v1/runs?limit=50`)) as RunsResponse;
    longest_ms = Math.max(longest_ms, performance.now() - asked_ms);
    const elapsed_ms = performance.now() - begun_ms;
    if (total > 0) firstPage_ms ??= elapsed_ms;
    if (total === RUNS && firstPage_ms !== null) {
      const [cpu_ms, resident_mb] = [cpuMilliseconds(child.pid ?? 0), residentMegabytes(child.pid ?? 0)];
      await stopServe(child);
      return { firstPage_ms, wholeList_ms: elapsed_ms, cpu_ms, longest_ms, resident_mb };
    }
    await pause(PAGE_EVERY_MS);
  }
}

interface Served {
  readonly firstPage_ms: number;
  readonly resident_mb: number;
}

async function servedOnce(folder: string): Promise<Served> {
  const begun_ms = performance.now();
  const { child, url } = await startServe(folder);
  await get(`${url}/api/v1/runs`);
  const firstPage_ms = performance.now() - begun_ms;
  await get(`${url}/metrics`);
  const resident_mb = residentMegabytes(child.pid ?? 0);
  await stopServe(child);
  return { firstPage_ms, resident_mb };
}

async function startServe(
  runs: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ child: ChildProcess; url: string }> {
  const child = startProgram(process.execPath, [LAUNCHER, 'serve', '--runs-dir', runs, '--port', '0', '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('serve has no output');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, ...(JSON.parse(line) as { url: string }) };
}

async function stopServe(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function get(url: string): Promise<string> {
  const { statusCode, body } = await request(url);
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  return text;
}

/** Of a process, by Linux' proc(5). */
function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
}

/** User and system time of a process and its threads, by proc(5): in hundredths of a second. */
function cpuMilliseconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
