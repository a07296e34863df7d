import { expect, test } from '@jest/globals';
import { readOptions } from '../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import type { ChosenWorkers } from '../load/workers/choose-workers.ts';
import { neededWorkers } from './planned-load.ts';
import type { RunRequest } from './run-request.ts';
import { checkStart, measureStart_ns, shardLine } from './common-start.ts';

function needed(...argv: string[]): ChosenWorkers {
  const common = ['--url', 'localhost:8000', '--model', 'm', '--run-id', 'a', '--start-at', '2030-01-31T12:00:00Z'];
  const [request] = runRequests(readOptions(RUN_OPTIONS, [...common, ...argv], {}));
  return neededWorkers(request as RunRequest);
}

test('the slots of warm-up and measure phase alike', () => {
  const load = ['--request-count', '100', '--concurrency', '8', '--shard', '0/1', '--workers', '4'];
  expect(needed(...load).workers).toBe(4);
  expect(needed(...load, '--warmup-request-count', '4', '--warmup-concurrency', '2').workers).toBe(2);
  expect(needed(...load, '--prefill-concurrency', '3').workers).toBe(3);
});

test('limits that requests wait for are divided among workers, and that is reported', () => {
  const load = ['--request-count', '100', '--shard', '0/1', '--workers', '2'];
  expect(needed(...load, '--concurrency', '8').line).toBeNull();
  expect(needed(...load, '--request-rate', '8').line).toBeNull();
  const said = 'workers: 2; each has a part of the limit of requests in flight or in prefill';
  expect(needed(...load, '--request-rate', '8', '--concurrency', '8').line).toBe(said);
  expect(needed(...load, '--concurrency', '8', '--prefill-concurrency', '4').line).toBe(said);
  expect(needed(...load.slice(0, 4), '--workers', '1', '--request-rate', '8', '--concurrency', '8').line).toBeNull();
});

test('a shard without a request or a slot is refused', () => {
  const third = ['--shard', '2/3'];
  expect(needed(...third, '--request-count', '3', '--concurrency', '3').workers).toBe(1);
  expect(() => needed(...third, '--request-count', '2', '--concurrency', '3')).toThrow('none for shard 2 of 3');
  expect(() => needed(...third, '--request-count', '9', '--concurrency', '2')).toThrow('none for shard 2 of 3');
  expect(() => needed(...third, '--request-count', '9', '--request-rate', '5')).not.toThrow();
});

test('a common start: refused when it has passed, else counted from the start of the run', () => {
  const shard = { share: { part: 0, parts: 2 }, startAt_ms: Date.UTC(2030, 0, 1, 12) };
  const at = (seconds: number): Date => new Date(shard.startAt_ms + seconds * 1000);
  expect(() => checkStart(shard, at(5.5))).toThrow('--start-at 2030-01-01T12:00:00.000Z passed 5.5 s ago');
  expect(() => checkStart(shard, at(4.9))).not.toThrow();
  expect(() => checkStart(null, at(99))).not.toThrow();
  expect(measureStart_ns(shard.startAt_ms, { wall: at(-2.5), monotonic_ns: 7 })).toBe(2.5e9);
  expect(measureStart_ns(null, { wall: at(0), monotonic_ns: 7 })).toBeNull();
  expect(shardLine(shard, at(-12))).toContain(
    'shard 0 of 2: generates its part of this load; all shards start to measure at',
  );
});
