import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { interTokenLatencySeconds } from '../core/measures/measures.ts';
import type { PhaseName, RequestRecord } from '../core/run/record.ts';
import type { ResultFile, ServersResult } from '../core/run/result.ts';
import { fullLoad } from '../exporter/load/testing/full-load.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { start } from './llmbench.ts';

let directory = '';
let server: RunningSimulator | null = null;

/** A step of the engine takes 2 ms, and 2 ms more for each request in flight: alone a request is four times as fast. */
const engine = { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 2, prefillMillisecondsPerToken: 0.001 };
const CONCURRENCY = 6;
const LOAD = ['--concurrency', String(CONCURRENCY), '--isl', '5', '--osl', '24', '--osl-stddev', '12'];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-cool-down-'));
  server = await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0, model: 'm', switches: false, engine });
});

afterAll(async () => {
  await server?.close();
  await rm(directory, { recursive: true });
});

const command = (...argv: readonly string[]): readonly string[] => [
  ...['run', '--url', server?.url ?? '', '--model', 'm', '--linger', 'no'],
  ...['--random-seed', '1', '--runs-dir', directory, ...argv],
];

interface Measured {
  readonly result: ResultFile;
  readonly records: readonly RequestRecord[];
  readonly of: (phase: PhaseName) => readonly RequestRecord[];
  readonly phases: readonly PhaseName[];
  readonly fingerprint: string;
}

async function measured(name: string, ...argv: readonly string[]): Promise<Measured> {
  const { code, stdout, stderr } = await start(command('--run-id', name, '--json', ...argv)).ended;
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  const { store } = await openStore(directory);
  const run = await store.readRun(name);
  const records: RequestRecord[] = [];
  for await (const record of store.readRecords(run)) records.push(record);
  const of = (phase: PhaseName): RequestRecord[] => records.filter((each) => each.phase === phase);
  const phases = run.phases.map(({ phase }) => phase);
  return { result: JSON.parse(stdout) as ResultFile, records, of, phases, fingerprint: run.fingerprint };
}

/** In this time every thread knows that the last measured request has ended. */
const NOTICED_NS = 50e6;

/** The slots that became free while requests were still measured, and were not used again, however late. */
function slotsLeftFree({ records, of }: Measured): number {
  const sent = records.filter(({ phase }) => phase !== 'warmup');
  const last_ns = Math.max(...of('measure').map(({ end_ns }) => end_ns)) - NOTICED_NS;
  const ended = sent.filter(({ end_ns }) => end_ns < last_ns);
  return Math.max(0, CONCURRENCY + ended.length - sent.length);
}

function serversOf({ servers }: ResultFile): ServersResult {
  if (servers === null) throw new Error('nothing was collected');
  return servers;
}

/** Mean inter-token latency of the last measured requests to end, in seconds. */
function latencyOfTail({ of }: Measured): number {
  const last = [...of('measure')].sort((a, b) => b.end_ns - a.end_ns).slice(0, 3);
  return last.reduce((sum, record) => sum + (interTokenLatencySeconds(record) ?? NaN), 0) / last.length;
}

function expectCoolDown(run: Measured): void {
  const cooled = run.of('cooldown');
  expect(cooled.length).toBeGreaterThan(0);
  expect(slotsLeftFree(run)).toBe(0);
  expect(run.phases.at(-1)).toBe('cooldown');
  expect(new Set(run.records.map(({ index }) => index)).size).toBe(run.records.length);
  const lastEnd_ns = Math.max(...run.of('measure').map(({ end_ns }) => end_ns));
  for (const { due_ns, outcome } of cooled) {
    expect(due_ns).toBeLessThan(lastEnd_ns + NOTICED_NS);
    expect(outcome).toBe('ok');
  }
  expect(run.result.cool_down).toEqual({ ok: cooled.length, error: 0, timeout: 0, cancelled: 0 });
  const measuredOk = run.of('measure').length;
  expect(run.result.requests).toEqual({ ok: measuredOk, error: 0, timeout: 0, cancelled: 0 });
  const servers = serversOf(run.result);
  expect([servers.exact, servers.why]).toEqual([true, null]);
  const all = measuredOk + cooled.length;
  expect(servers.requests).toMatchObject({ server: all, client: all, difference: 0, cool_down: cooled.length });
  // No figure has more requests than the measure phase.
  for (const figure of run.result.measures)
    if (figure.kind === 'distribution' && figure.measure === 'request_latency') expect(figure.n).toBe(measuredOk);
}

test.each(['1', '2'])(
  'all measured requests run at the full load, and the servers count those of the cool-down too (%s workers)',
  async (workers) => {
    const name = `requests-${workers}`;
    const run = await measured(
      name,
      ...LOAD,
      '--request-count',
      '40',
      '--warmup-request-count',
      '6',
      '--workers',
      workers,
      '--cool-down',
    );
    expect(run.of('measure')).toHaveLength(40);
    expect(run.phases).toEqual(['warmup', 'measure', 'cooldown']);
    expectCoolDown(run);
    const { stdout } = await start(['runs', 'show', name, '--runs-dir', directory]).ended;
    expect(stdout).toContain(
      `cool-down   ok ${run.of('cooldown').length} · error 0 · timeout 0 · cancelled 0, not measured`,
    );
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      `${run.of('cooldown').length} of them of the cool-down, which the servers' measures include`,
    );
    expect(stdout).toContain('40 requests, after a warm-up of 6 requests, with a cool-down');
  },
  180_000,
);

test('the same for a duration', async () => {
  const run = await measured('duration', ...LOAD, '--benchmark-duration', '2', '--cool-down');
  expectCoolDown(run);
  const start_ns = Math.min(...run.of('measure').map(({ sent_ns }) => sent_ns));
  for (const { sent_ns } of run.of('cooldown')) expect(sent_ns - start_ns).toBeGreaterThan(1.9e9);
}, 180_000);

test('after stages, the load of the last one continues; no stage has its requests', async () => {
  const stages = ['--stages', `rate=10:1s,concurrency=3:1s,concurrency=${CONCURRENCY}:1s`];
  const run = await measured('stages', '--isl', '5', '--osl', '24', ...stages, '--cool-down', '--workers', '2');
  const cooled = run.of('cooldown');
  expect(cooled.length).toBeGreaterThan(0);
  expect(cooled.map(({ stage }) => stage)).toEqual(cooled.map(() => null));
  const [, , last] = run.result.stages;
  const lastStage = run.of('measure').filter(({ stage }) => stage === 3);
  expect(last?.requests.ok).toBe(lastStage.length);
  const full = fullLoad(run.records, CONCURRENCY);
  const end_ns = Math.max(...lastStage.map((record) => record.end_ns));
  const begin_ns = Math.min(...lastStage.map((record) => record.sent_ns));
  expect(full.holds((begin_ns + end_ns) / 2)).toBe(true);
  expect(full.holds(begin_ns + 0.9 * (end_ns - begin_ns))).toBe(true);
}, 180_000);

test('the tail is as slow as the rest, and faster without it; runs with and without are not comparable', async () => {
  const options = [...LOAD, '--request-count', '40'];
  const withIt = await measured('with', ...options, '--cool-down');
  const without = await measured('without', ...options);
  expect(slotsLeftFree(without)).toBeGreaterThan(0);
  expect(without.result.cool_down).toBeUndefined();
  // Full: 2 + 6 × 2 = 14 ms per token. At the end, with 3 requests or fewer, at most 8 ms.
  expect(latencyOfTail(withIt)).toBeGreaterThan(0.012);
  expect(latencyOfTail(without)).toBeLessThan(latencyOfTail(withIt) * 0.9);
  expect(withIt.fingerprint).not.toBe(without.fingerprint);
  const { stdout } = await start(['compare', 'with', 'without', '--runs-dir', directory]).ended;
  expect(stdout).toContain('cool_down');
}, 180_000);

describe('refused before the first request', () => {
  test.each([
    [['--request-rate', '5', '--request-count', '10'], 'a request rate'],
    [['--stages', 'concurrency=2:1s,rate=5:1s'], 'a last stage with a rate'],
    [['--find', 'concurrency', '--slo', 'ttft:p95<1s'], '--find'],
    [['--concurrency', '2', '--session-turns-mean', '2', '--request-count', '6'], 'conversations'],
  ] as const)('%j', async (argv, reason) => {
    const { code, stderr } = await start(command('--cool-down', ...argv)).ended;
    expect([code, stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toContain('--cool-down cannot be used with');
    expect(stderr).toContain(reason);
  });
});
