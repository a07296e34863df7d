import { ExpectedError } from '../errors/expected-error.ts';
import type { LoadPhase } from '../../core/run/record.ts';
import type { RunEpoch } from '../clock/monotonic-clock.ts';
import { MAX_LATE_SECONDS, type BenchmarkParts } from '../load/run-benchmark.ts';
import { fingerprint } from '../store/fingerprint.ts';
import type { RunContext, RunHost } from './run-context.ts';
import type { ShardRequest } from './run-request.ts';

/** Throws an `ExpectedError` when the common start has passed. */
export function checkStart(shard: ShardRequest | null, now: Date): void {
  if (shard === null || shard.startAt_ms === null) return;
  const late = (now.getTime() - shard.startAt_ms) / 1000;
  if (late <= MAX_LATE_SECONDS) return;
  const at = new Date(shard.startAt_ms).toISOString();
  throw new ExpectedError(
    'refused',
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

/** Clocks that differ by less are not mentioned. */
const SMALL_CORRECTION_MS = 50;

/** Meets the other machines that measure the same run, if there are any. */
export async function joinOthers(host: RunHost): Promise<void> {
  const rendezvous = host.rendezvous ?? null;
  if (rendezvous === null) return;
  await rendezvous.join();
  const { correction_ms } = rendezvous;
  if (Math.abs(correction_ms) < SMALL_CORRECTION_MS) return;
  const seconds = Math.abs(correction_ms / 1000).toFixed(1);
  const direction = correction_ms > 0 ? 'behind' : 'ahead of';
  host.say(`the clock of this machine is ${seconds} s ${direction} that of object storage, which the run uses`);
}

/** What happens between the phases, where shards without a given start agree on one before the measurement. */
export function agreedStart(
  { host, request, plan, controls, epoch }: Pick<RunContext, 'host' | 'request' | 'plan' | 'controls' | 'epoch'>,
  readPages: (phase: LoadPhase) => Promise<void>,
): Pick<BenchmarkParts, 'beforePhase' | 'agreeStart_ns'> {
  const rendezvous = host.rendezvous ?? null;
  if (rendezvous === null || request.shard?.startAt_ms != null) return { beforePhase: readPages };
  return {
    beforePhase: async (phase) => {
      if (phase === 'measure') await rendezvous.gather(fingerprint(plan.comparison_key), controls.draining);
      // Now no shard sends any more requests of the warm-up.
      await readPages(phase);
    },
    agreeStart_ns: async () => {
      const start_ms = await rendezvous.start_ms(controls.draining);
      if (start_ms !== null) host.say(`all shards start to measure at ${new Date(start_ms).toISOString()}`);
      return measureStart_ns(start_ms, epoch);
    },
  };
}
