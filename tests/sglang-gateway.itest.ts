import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResultFile, ServersResult } from '../core/run/result.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { start } from './llmbench.ts';

const REQUESTS = 30;

let directory = '';
let gateway: RunningSimulator | null = null;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-gateway-'));
  const engine = { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };
  gateway = await startSimulator({ system: 'sglang', workers: 3, model: 'm', engine });
});

afterAll(async () => {
  await gateway?.close();
  await rm(directory, { recursive: true });
});

/** What the servers counted of a run, which reads these pages besides those that it finds. */
async function counted(runId: string, pages: readonly string[]): Promise<ServersResult> {
  const { code, stdout, stderr } = await start([
    ...['run', '--url', gateway?.url ?? '', '--model', 'm', '--run-id', runId, '--runs-dir', directory, '--json'],
    ...['--concurrency', '4', '--request-count', String(REQUESTS), '--isl', '20', '--osl', '8', '--linger', 'no'],
    ...pages.flatMap((page) => ['--server-metrics', page]),
  ]).ended;
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  const { servers } = JSON.parse(stdout) as ResultFile;
  if (servers === null) throw new Error('nothing was collected');
  return servers;
}

const ONCE = { server: REQUESTS, client: REQUESTS, difference: 0 };
const merged = (): string => `${gateway?.url ?? ''}/engine_metrics`;
const workers = (): readonly string[] => gateway?.metricsUrls.slice(1) ?? [];

test("a gateway's API has no metrics page of its own: that of its workers is found", async () => {
  const servers = await counted('found', []);
  expect(servers.targets.map(({ target, system }) => [target, system])).toContainEqual([merged(), 'sglang']);
  expect(servers).toMatchObject({ exact: true, requests: { family: 'sglang:num_requests_total', ...ONCE } });
}, 60_000);

test.each([
  ['the merged page first', () => [merged(), ...workers()]],
  ['the workers first', () => [...workers(), merged()]],
  ['one of the workers', () => [merged(), ...workers().slice(0, 1)]],
])(
  'workers that are read directly and through the gateway are counted once: %s',
  async (name, pages) => {
    const servers = await counted(name.replaceAll(' ', '-'), pages());
    // The API itself has no page.
    expect(servers.targets.filter(({ state }) => state === 'up')).toHaveLength(pages().length);
    expect(servers).toMatchObject({ exact: true, requests: { family: 'sglang:num_requests_total', ...ONCE } });
  },
  60_000,
);

test('with the page of the gateway itself, its count comes first', async () => {
  const servers = await counted('gateway', [gateway?.metricsUrl ?? '', merged(), ...workers()]);
  expect(servers).toMatchObject({ exact: true, requests: { family: 'smg_router_requests_total', ...ONCE } });
}, 60_000);
