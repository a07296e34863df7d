import type { RunEpoch } from '../clock/monotonic-clock.ts';
import { MAX_LATE_SECONDS } from '../load/run-benchmark.ts';
import { RefusedError } from './refusal.ts';
import type { ShardRequest } from './run-request.ts';

/** Throws a `RefusedError` when the common start has passed. */
export function checkStart(shard: ShardRequest | null, now: Date): void {
  if (shard === null || shard.startAt_ms === null) return;
  const late = (now.getTime() - shard.startAt_ms) / 1000;
  if (late <= MAX_LATE_SECONDS) return;
  const at = new Date(shard.startAt_ms).toISOString();
  throw new RefusedError(
    `--start-at ${at} passed ${late.toFixed(1)} s ago: choose a time after the start and the warm-up of every shard`,
  );
}

/** A common start in nanoseconds since the start of the run; null: the measure phase has none, or it is not known yet. */
export function measureStart_ns(startAt_ms: number | null, epoch: RunEpoch): number | null {
  return startAt_ms === null ? null : (startAt_ms - epoch.wall.getTime()) * 1e6;
}

/** One line for the user who starts a shard. */
export function shardLine({ share: { part, parts }, startAt_ms }: ShardRequest, now: Date): string {
  const own = `shard ${part} of ${parts}: generates its part of this load`;
  if (startAt_ms === null) return `${own}; the measurement starts when all shards are ready`;
  const seconds = Math.max(0, (startAt_ms - now.getTime()) / 1000);
  const at = new Date(startAt_ms).toISOString();
  return `${own}; all shards start to measure at ${at}, in ${seconds.toFixed(1)} s`;
}
