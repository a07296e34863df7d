import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ownIdentity } from '../../files/process-identity.ts';
import { DiskQueue, parsePoint, pointText, parseQueueName, queueName, queuesDirectory } from './disk-queue.ts';
import { pendingQueues, type PendingQueue } from './send-pending.ts';
import { labelPairs, type SeriesLayout } from './pushed-series.ts';

let runs: string;
let problems: string[];
const options = { maxBytes: 1e6, problem: (line: string) => void problems.push(line) };
const head = { schema_version: 1 as const, url: 'http://127.0.0.1:1/api/v1/write' };

beforeEach(() => {
  runs = mkdtempSync(join(tmpdir(), 'llmbench-queue-'));
  problems = [];
});
afterEach(() => rmSync(runs, { recursive: true, force: true }));

const layout = (name: string): SeriesLayout => ({
  families: [{ name, type: 'gauge', help: '' }],
  series: [{ family: 0, labels: labelPairs(name, { run_id: 'r' }) }],
  nativeSeries: [],
  created_ms: null,
});

const point = (time_ms: number) => ({ time_ms, values: [time_ms / 10], native: [] });

function times(queue: DiskQueue): number[] {
  const all: number[] = [];
  for (let next = queue.next(2); next !== null; next = queue.next(2)) {
    all.push(...next.points.map(({ time_ms }) => time_ms));
    queue.remove(next.entries);
  }
  return all;
}

/** The queue that a killed process leaves. */
function leftQueue(name: string, points: readonly number[]): string {
  const folder = join(queuesDirectory(runs), name);
  const queue = DiskQueue.create(folder, head, options);
  queue.declare(1, layout('a'));
  for (const time_ms of points) queue.append(1, point(time_ms));
  return folder;
}

test('points are read in order, those of one layout together', () => {
  const queue = DiskQueue.create(join(runs, 'q'), head, options);
  queue.declare(1, layout('a'));
  queue.declare(2, layout('b'));
  for (const [number, time_ms] of [
    [1, 10],
    [1, 20],
    [2, 15],
    [1, 30],
  ] as const)
    queue.append(number, point(time_ms));
  expect(queue.samples).toBe(4);
  const first = queue.next(100);
  expect(first?.points.map(({ time_ms }) => time_ms)).toEqual([10, 20]);
  expect(first?.layout.families[0]?.name).toBe('a');
  expect(times(queue)).toEqual([10, 20, 15, 30]);
  expect(queue.empty).toBe(true);
  queue.close(join(runs, 'left'));
  expect(readdirSync(runs)).toEqual([]);
});

test('the oldest points are dropped at the limit, and counted', () => {
  const queue = DiskQueue.create(join(runs, 'q'), head, { ...options, maxBytes: 300 });
  queue.declare(1, layout('a'));
  for (let i = 1; i <= 20; i++) queue.append(1, point(i));
  expect(queue.lost).toBe(20 - queue.samples);
  expect(queue.samples).toBeGreaterThan(2);
  expect(times(queue).at(-1)).toBe(20);
  expect(problems).toEqual(['more than 300 bytes wait to be sent: the oldest samples are dropped']);
});

test('the queue of a killed process is complete and taken over once', async () => {
  leftQueue('run-1~0', [1, 2, 3]);
  const [found, ...others] = await pendingQueues(runs, options);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ name: { runId: 'run-1', shard: '0' }, url: head.url });
  // This process is working on it.
  expect(await pendingQueues(runs, options)).toEqual([]);
  expect(found && times(found.queue)).toEqual([1, 2, 3]);
  found?.close();
  expect(readdirSync(queuesDirectory(runs))).toEqual([]);
});

test('the queue of a running process is not touched, that of an ended process is taken over', async () => {
  const own = ownIdentity();
  leftQueue(queueName({ runId: 'alive', shard: '0', owner: own }), [1]);
  const [where] = own.start_time.split('.');
  leftQueue(queueName({ runId: 'gone', shard: '0', owner: { pid: own.pid, start_time: `${where}.1` } }), [2]);
  const found = await pendingQueues(runs, options);
  expect(found.map(({ name }) => name.runId)).toEqual(['gone']);
  for (const each of found) each.close();
  expect(readdirSync(queuesDirectory(runs)).map((name) => name.split('~').slice(0, 2))).toEqual([
    ['alive', '0'],
    ['gone', '0'],
  ]);
});

test('the series of a killed process end after its last point, even if that was sent', async () => {
  const own = ownIdentity();
  const owner = { pid: own.pid, start_time: `${own.start_time.split('.')[0]}.1` };
  const folder = leftQueue(queueName({ runId: 'sent', shard: '0', owner }), []);
  leftQueue(queueName({ runId: 'waiting', shard: '0', owner }), [10, 9e12]);
  utimesSync(folder, 1_700_000_000, 1_700_000_000);
  const found = await pendingQueues(runs, options);
  const points = found.map(({ queue }) => queue.next(100)?.points.map(({ time_ms, values }) => [time_ms, values]));
  expect(points).toEqual([
    [[1_700_000_000_001, null]],
    [
      [10, [1]],
      [9e12, [9e11]],
      [9e12 + 1, null],
    ],
  ]);
  for (const each of found) each.close();
});

test('how many samples were dropped outlives the process and the samples, until it is forgotten', async () => {
  const folder = leftQueue('dropped~0', [1, 2]);
  const reopened = async (): Promise<PendingQueue | undefined> => (await pendingQueues(runs, options))[0];
  const first = await reopened();
  first?.queue.noteDropped(3);
  first?.queue.noteDropped(4);
  first?.close();
  const second = await reopened();
  expect([second?.queue.dropped, second?.queue.samples]).toEqual([7, 2]);
  second?.queue.remove(second.queue.next(100)?.entries ?? []);
  second?.close();
  const third = await reopened();
  expect([third?.queue.dropped, third?.queue.empty]).toEqual([7, true]);
  third?.queue.forgetDropped();
  third?.close();
  expect(existsSync(folder)).toBe(false);
});

test('queues of another receiver are not changed', async () => {
  leftQueue('run-1~0', [1]);
  expect(await pendingQueues(runs, options, (url) => url === 'http://elsewhere/')).toEqual([]);
  expect(readdirSync(queuesDirectory(runs))).toEqual(['run-1~0']);
});

test('truncated files are reported and counted; the rest is sent', async () => {
  const folder = leftQueue('run-1~0', [1, 2, 3]);
  truncateSync(join(folder, 'point-000000002.json'), 9);
  writeFileSync(join(folder, 'point-000000004.json.tmp'), '{');
  const [found] = await pendingQueues(runs, options);
  expect(found && times(found.queue)).toEqual([1, 3]);
  expect(problems.join('\n')).toMatch(/point-000000002\.json is damaged/);
});

test('a folder without a header is reported, an empty one is removed', async () => {
  mkdirSync(join(queuesDirectory(runs), 'run-1~0'), { recursive: true });
  const folder = leftQueue('run-2~0', [1]);
  rmSync(join(folder, 'queue.json'));
  expect(await pendingQueues(runs, options)).toEqual([]);
  expect(problems).toEqual([expect.stringContaining('run-2~0 cannot be sent')]);
  expect(readdirSync(queuesDirectory(runs))).toEqual(['run-2~0']);
});

test('if the disk fails, points are kept in memory, which is reported once', () => {
  writeFileSync(join(runs, 'file'), '');
  const queue = DiskQueue.create(join(runs, 'file', 'q'), head, options);
  queue.declare(1, layout('a'));
  queue.append(1, point(1));
  queue.append(1, point(2));
  expect(times(queue)).toEqual([1, 2]);
  expect(problems).toEqual([expect.stringMatching(/^waiting samples are kept in memory only: /)]);
});

test('files of a later version are not changed', async () => {
  const folder = leftQueue('run-1~0', [1]);
  writeFileSync(join(folder, 'queue.json'), JSON.stringify({ ...head, schema_version: 2 }));
  expect(await pendingQueues(runs, options)).toEqual([]);
  expect(problems).toEqual([expect.stringContaining('use a newer llmbench')]);
  expect(readdirSync(folder)).toContain('point-000000001.json');
});

test('any point round-trips', () => {
  const number = fc.double();
  fc.assert(
    fc.property(fc.nat(), fc.option(fc.array(number)), (time_ms, values) => {
      const read = parsePoint(pointText(3, { time_ms, values, native: [] }));
      // JSON has no negative zero, and counters cannot have one.
      const expected = values?.map((value) => (value === 0 ? 0 : value)) ?? null;
      expect(read).toEqual({ layout: 3, point: { time_ms, values: expected, native: [] } });
    }),
  );
});

test('names', () => {
  const owner = { pid: 42, start_time: '0123456789ab.77' };
  expect(parseQueueName(queueName({ runId: 'a-b', shard: '1', owner }))).toEqual({ runId: 'a-b', shard: '1', owner });
  expect(parseQueueName('a~0')).toEqual({ runId: 'a', shard: '0', owner: null });
  for (const name of ['..', 'a', 'a~0~1', '../a~0', 'a~b/c']) expect(parseQueueName(name)).toBeNull();
});
