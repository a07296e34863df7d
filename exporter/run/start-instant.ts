import type { RunEpoch } from '../bench/monotonic-clock.ts';
import { MOST_LATE_SECONDS } from '../bench/run-benchmark.ts';
import { RefusedError } from './refusal.ts';
import type { ShardRequest } from './run-request.ts';

/** Throws a `RefusedError` when the common start has passed. */
export function checkStart(shard: ShardRequest | null, now: Date): void {
  if (shard === null) return;
  const late = (now.getTime() - shard.startAt_ms) / 1000;
  if (late <= MOST_LATE_SECONDS) return;
  const at = new Date(shard.startAt_ms).toISOString();
  throw new RefusedError(
    `--start-at ${at} passed ${late.toFixed(1)} s ago: choose a time that leaves every shard its start and its warm-up`,
  );
}

/** The common start in nanoseconds since the run's; null: the measure phase begins when it may. */
export function measureStart_ns(shard: ShardRequest | null, epoch: RunEpoch): number | null {
  return shard === null ? null : (shard.startAt_ms - epoch.wall.getTime()) * 1e6;
}

/** What a person who starts a shard should know, in one line. */
export function shardLine({ share: { part, parts }, startAt_ms }: ShardRequest, now: Date): string {
  const seconds = Math.max(0, (startAt_ms - now.getTime()) / 1000);
  const at = new Date(startAt_ms).toISOString();
  return `shard ${part} of ${parts}: makes its part of this load; all begin to measure at ${at}, in ${seconds.toFixed(1)} s`;
}
