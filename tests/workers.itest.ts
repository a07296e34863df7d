import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import { startSimulator } from '../simulator/main.ts';
import { llmbench, start } from './llmbench.ts';

let simulator: Awaited<ReturnType<typeof startSimulator>>;
let runsDir: string;

beforeAll(async () => {
  simulator = await startSimulator({ system: 'vllm', port: 0, model: 'sim-model', seed: 1 });
});
afterAll(() => simulator.close());
beforeEach(async () => {
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-workers-'));
});
afterEach(() => rm(runsDir, { recursive: true, force: true }));

const runArgs = (...more: string[]): string[] => {
  const target = ['--url', simulator.url, '--model', 'sim-model', '--runs-dir', runsDir];
  return ['run', ...target, '--isl', '16', '--osl', '8', '--workers', '2', '--json', ...more];
};

/** A port that was free a moment ago. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** The sum of a family's samples on a metrics page. */
const sumOf = (page: string, name: string): number =>
  page
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

test('a scrape after the last request has the counts of all workers', async () => {
  const port = await freePort();
  const load = ['--concurrency', '4', '--request-count', '30'];
  const run = start(runArgs(...load, '--metrics-port', String(port), '--linger-max', '30'));
  const metricsUrl = `http://127.0.0.1:${port}/metrics`;
  let page = '';
  // The run is on the page until the final values were scraped twice; then the page is empty, until the process ends.
  while (run.child.exitCode === null) {
    const scraped = await fetch(metricsUrl).catch(() => null);
    const body = (await scraped?.text()) ?? '';
    if (body.includes('llmbench_run_info{')) page = body;
    await sleep(50);
  }
  const { code, stdout } = await run.ended;
  expect(code).toBe(0);
  const result = JSON.parse(stdout) as ResultFile;
  expect(result.requests.ok).toBe(30);
  expect(sumOf(page, 'llmbench_requests_total')).toBe(30);
  expect(sumOf(page, 'llmbench_time_to_first_token_seconds_count')).toBe(30);
  expect(sumOf(page, 'llmbench_inter_token_latency_seconds_count')).toBe(30);
  expect(sumOf(page, 'llmbench_requests_in_flight')).toBe(0);
});

test('Ctrl-C drains every worker and writes the run', async () => {
  const run = start(runArgs('--concurrency', '4', '--benchmark-duration', '600', '--run-id', 'drained'));
  await run.said('requests/s');
  run.child.kill('SIGINT');
  const { code, stdout } = await run.ended;
  expect(code).toBe(130);
  const result = JSON.parse(stdout) as ResultFile;
  expect(result).toMatchObject({ status: 'aborted', requests: { error: 0, cancelled: 0 } });
  expect(result.requests.ok).toBeGreaterThan(4);
});

test('kill -9: the workers end with their process, and the next command finishes the run with what was measured', async () => {
  const run = start(runArgs('--concurrency', '4', '--benchmark-duration', '600', '--run-id', 'killed'));
  await run.said('requests/s');
  run.child.kill('SIGKILL');
  await run.ended;
  const { stderr } = await llmbench('runs', '--runs-dir', runsDir);
  expect(stderr).toMatch(/run killed was finished as aborted: its process had ended; \d+ requests are kept/);
  const result = JSON.parse(await readFile(join(runsDir, 'killed', 'result.json'), 'utf8')) as ResultFile;
  expect(result.requests.ok).toBeGreaterThan(4);
});

test('shards begin together, and merge makes one run of them', async () => {
  // As far away as a machine needs that takes ten times as long to load the command as it has just taken.
  const before_ms = Date.now();
  await llmbench('run', '--help');
  const startAt = new Date(Date.now() + 3000 + 10 * (Date.now() - before_ms)).toISOString();
  const shard = (part: number): ReturnType<typeof llmbench> =>
    llmbench(
      ...runArgs('--concurrency', '4', '--request-count', '21', '--run-id', 'night'),
      ...['--shard', `${part}/2`, '--start-at', startAt],
    );
  const shards = await Promise.all([shard(0), shard(1)]);
  expect(shards.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0]);
  const { code, stdout } = await llmbench('merge', 'night', '--runs-dir', runsDir, '--json');
  expect(code).toBe(0);
  const result = JSON.parse(stdout) as ResultFile;
  expect(result).toMatchObject({ run_id: 'night', status: 'completed', requests: { ok: 21, error: 0 } });
  expect(Date.parse(result.window.start ?? '')).toBeGreaterThanOrEqual(Date.parse(startAt));
  expect((await llmbench('runs', '--runs-dir', runsDir)).stdout).toContain('night');
  const again = await llmbench('merge', 'night', '--runs-dir', runsDir);
  expect([again.code, again.stderr.includes('have been merged')]).toEqual([2, true]);
});
