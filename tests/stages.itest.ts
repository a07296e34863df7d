import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RequestRecord } from '../core/run/record.ts';
import type { ResultFile } from '../core/run/result.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { startSimulator, type RunningSimulator } from '../simulator/main.ts';
import { llmbench, start } from './llmbench.ts';

let directory = '';
let server: RunningSimulator | null = null;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-stages-'));
  server = await startSimulator({ system: 'vllm', host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server?.close();
  await rm(directory, { recursive: true });
});

async function measured(name: string, ...argv: readonly string[]) {
  const runsDir = join(directory, name);
  const where = ['--url', server?.url ?? '', '--model', 'sim-model', '--runs-dir', runsDir, '--run-id', name];
  const basics = ['--linger', 'no', '--no-server-metrics', '--isl', '64', '--osl', '8', '--json'];
  const process = start(['run', ...where, ...basics, ...argv]);
  const { code, stdout, stderr } = await process.ended;
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  const { store } = await openStore(runsDir);
  const records: RequestRecord[] = [];
  const run = await store.readRun(name);
  for await (const record of store.readRecords(run)) records.push(record);
  return { result: JSON.parse(stdout) as ResultFile, run, records, folder: store.pathOf(name) };
}

/** A command that measures with constant arrivals, so that each stage has a known number of requests. */
const constant = (runsDir: string, name: string, stages: string): string[] => [
  ...['run', '--url', server?.url ?? '', '--model', 'sim-model', '--runs-dir', runsDir, '--run-id', name],
  ...['--linger', 'no', '--no-server-metrics', '--isl', '64', '--osl', '8'],
  ...['--arrival-pattern', 'constant', '--stages', stages],
];

const okOfStages = ({ stages }: ResultFile): (number | null)[] => stages.map(({ requests }) => requests.ok);

/** Linear between order statistics, as numpy's default. */
function percentile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (sorted.length - 1) * q;
  const low = Math.floor(rank);
  const [below = NaN, above = NaN] = [sorted[low], sorted[Math.min(low + 1, sorted.length - 1)]];
  return below + (above - below) * (rank - low);
}

test.each(['1', '2'])(
  'each stage has its planned requests and the measures of exactly these (%s workers)',
  async (workers) => {
    const stages = 'rate=20:2s,rate=10..50:1s,concurrency=24:2s,concurrency=2:1s';
    const { result, run, records } = await measured(
      `truth-${workers}`,
      ...['--stages', stages, '--arrival-pattern', 'constant', '--warmup-request-count', '3', '--workers', workers],
    );
    const of = (stage: number): RequestRecord[] => records.filter((each) => each.stage === stage);
    expect(records.filter(({ phase }) => phase === 'warmup').map(({ stage }) => stage)).toEqual([null, null, null]);
    // Of the stages with a rate the planned number: 20 × 2, (10 + 50) / 2 × 1.
    expect([of(1).length, of(2).length]).toEqual([40, 30]);
    expect(result.stages.map(({ stage }) => stage)).toEqual([1, 2, 3, 4]);
    const zero_ns = Math.min(...of(1).map(({ due_ns }) => due_ns ?? NaN));
    const edges = [0, 2, 3, 5, 6];
    for (const { stage, start: from, end, requests, measures, window } of result.stages) {
      const own = of(stage);
      for (const { due_ns } of own) {
        expect(((due_ns ?? NaN) - zero_ns) / 1e9).toBeGreaterThanOrEqual(edges[stage - 1] ?? NaN);
        expect(((due_ns ?? NaN) - zero_ns) / 1e9).toBeLessThan(edges[stage] ?? NaN);
      }
      expect(requests.ok).toBe(own.length);
      const seconds = (Date.parse(end ?? '') - Date.parse(from ?? '')) / 1000;
      expect(seconds).toBeCloseTo((edges[stage] ?? NaN) - (edges[stage - 1] ?? NaN), 2);
      const first = own.map(({ first_content_ns, sent_ns }) => ((first_content_ns ?? NaN) - sent_ns) / 1e9);
      const found = measures.find(
        (each) => each.kind === 'distribution' && each.measure === 'time_to_first_token' && each.clock === 'sent',
      );
      if (found?.kind !== 'distribution') throw new Error('no time to first token');
      expect(found.n).toBe(own.length);
      for (const [name, q] of [
        ['p50', 0.5],
        ['p90', 0.9],
        ['p99', 0.99],
      ] as const)
        expect(found.percentiles[name].value).toBeCloseTo(percentile(first, q), 9);
      const lasted =
        (Math.max(...own.map(({ end_ns }) => end_ns)) - Math.min(...own.map(({ sent_ns }) => sent_ns))) / 1e9;
      expect(window.seconds).toBeCloseTo(lasted, 9);
      const throughput = measures.find(({ measure }) => measure === 'request_throughput');
      expect(throughput?.kind === 'scalar' ? throughput.value : null).toBeCloseTo(own.length / lasted, 9);
    }
    expect(run.comparison_key.load).toMatchObject({ mode: 'stages', stages: result.stages.map(({ load }) => load) });
    expect(run.comparison_key.stop).toEqual({ request_count: null, benchmark_duration_seconds: 6 });
    expect(result.requests.ok).toBe(records.filter(({ phase }) => phase === 'measure').length);
  },
  180_000,
);

test('in flight: never more than the concurrency of a stage, once those of the stage before have ended', async () => {
  const { records } = await measured('in-flight', '--stages', 'concurrency=12:1s,concurrency=3:2s', '--workers', '2');
  const sent = records.map(({ sent_ns, end_ns }) => ({ sent_ns, end_ns }));
  const inFlightAt = (at_ns: number): number =>
    sent.filter(({ sent_ns, end_ns }) => sent_ns <= at_ns && at_ns < end_ns).length;
  for (const { stage, sent_ns } of records) expect(inFlightAt(sent_ns)).toBeLessThanOrEqual(stage === 1 ? 12 : 3);
}, 180_000);

test('of runs with stages one stage is compared, never the whole', async () => {
  const stages = ['--stages', 'concurrency=2:500ms,concurrency=4:500ms', '--random-seed', '1'];
  const { folder } = await measured('whole', ...stages);
  expect(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8'))).toMatchObject({ schema_version: 7 });
  const again = start([
    ...['run', '--url', server?.url ?? '', '--model', 'sim-model', '--runs-dir', join(directory, 'whole')],
    ...['--run-id', 'again', '--linger', 'no', '--no-server-metrics', '--isl', '64', '--osl', '8', ...stages],
  ]);
  expect((await again.ended).code).toBe(0);
  const compared = async (...argv: readonly string[]) =>
    start(['compare', 'whole', 'again', '--runs-dir', join(directory, 'whole'), ...argv]).ended;
  const whole = await compared();
  expect([whole.code, whole.stderr]).toEqual([
    1,
    'llmbench compare: whole cannot be read: its load has 2 stages, of which one at a time is compared: choose its number (--stage N)\n',
  ]);
  const second = await compared('--stage', '2', '--json');
  expect(second.code).toBe(0);
  const missing = await compared('--stage', '3');
  expect(missing.stderr).toContain('it has no stage 3, only 1 to 2');
}, 180_000);

test('the shards of a run with stages are merged stage by stage', async () => {
  const runsDir = join(directory, 'shards');
  // As far away as a machine needs for a run, which takes ten times as long to start, that has become three times as slow.
  const before_ms = Date.now();
  await llmbench('--version');
  const startAt = new Date(Date.now() + 3000 + 30 * (Date.now() - before_ms)).toISOString();
  const shard = (part: string): ReturnType<typeof llmbench> =>
    llmbench(...constant(runsDir, 'night', 'rate=20:1s,rate=40:1s'), '--shard', part, '--start-at', startAt);
  const shards = await Promise.all([shard('0/2'), shard('1/2')]);
  expect(shards.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const { code, stdout } = await llmbench('merge', 'night', '--runs-dir', runsDir, '--json');
  expect(code).toBe(0);
  const result = JSON.parse(stdout) as ResultFile;
  expect([okOfStages(result), result.requests.ok]).toEqual([[20, 40], 60]);
  const [first, second] = result.stages.map(({ start: from, end }) =>
    [from, end].map((time) => Date.parse(time ?? '')),
  );
  expect(first?.[1]).toBe(second?.[0]);
  expect((first?.[0] ?? NaN) - Date.parse(startAt)).toBeGreaterThanOrEqual(0);
}, 300_000);

test('of a run that was killed in its second stage, the first is whole and the second has what was finished', async () => {
  const runsDir = join(directory, 'killed');
  const run = start(constant(runsDir, 'killed', 'rate=20:1s,rate=20:120s'));
  // The first line of progress comes after five seconds.
  await run.said('requests/s');
  run.child.kill('SIGKILL');
  await run.ended;
  expect((await llmbench('runs', '--runs-dir', runsDir)).stderr).toContain('finished as aborted');
  const { store } = await openStore(runsDir);
  const records: RequestRecord[] = [];
  for await (const record of store.readRecords(await store.readRun('killed'))) records.push(record);
  const [first, second] = okOfStages(await store.readResult('killed'));
  expect(first).toBe(20);
  expect(second).toBe(records.filter(({ stage }) => stage === 2).length);
  expect(second).toBeGreaterThan(0);
}, 180_000);
