import { availableParallelism } from 'node:os';
import { chooseWorkers, type ChosenWorkers, type LoadSize } from '../bench/workers/choose-workers.ts';
import { shareOf, WHOLE } from '../bench/workers/share.ts';
import { RefusedError } from './refusal.ts';
import type { LoadRequest, RunRequest } from './run-request.ts';

/** How many threads make a run's load on this machine. Throws a `RefusedError` when a shard is left without any load. */
export function neededWorkers(request: RunRequest): ChosenWorkers {
  const { load, warmup, outputTokens, fixedSchedule, workers, shard } = request;
  const size = ({ concurrency, prefillConcurrency, rate }: LoadRequest, isTrace: boolean): LoadSize => ({
    concurrency: rate === null && !isTrace ? (concurrency ?? 1) : concurrency,
    prefillConcurrency,
    requestRate: rate?.requestRate ?? null,
    outputTokens,
  });
  const loads = [size(load, fixedSchedule !== null), ...(warmup === null ? [] : [size(warmup.load, false)])];
  if (shard !== null) {
    const { share } = shard;
    const least = Math.min(request.requestCount ?? Infinity, ...loads.map(slots));
    if (shareOf(least, share) === 0)
      throw new RefusedError(
        `a load of ${least} (requests, or slots for them) leaves none for shard ${share.part} of ${share.parts}`,
      );
  }
  const chosen = chooseWorkers(workers, loads, availableParallelism(), shard?.share ?? WHOLE);
  const limited = [load, ...(warmup === null ? [] : [warmup.load])].some((each) =>
    hasLimit(each, fixedSchedule !== null),
  );
  if (chosen.workers === 1 || !limited) return chosen;
  const line = `${chosen.line ?? `workers: ${chosen.workers}`}; each keeps its part of the limit of requests in flight or in prefill`;
  return { ...chosen, line };
}

const slots = ({ concurrency, prefillConcurrency }: LoadSize): number =>
  Math.min(concurrency ?? Infinity, prefillConcurrency ?? Infinity);

/** Whether requests may have to wait for a slot that is not theirs from the beginning. */
const hasLimit = ({ concurrency, prefillConcurrency, rate }: LoadRequest, isTrace: boolean): boolean =>
  prefillConcurrency !== null || (concurrency !== null && (rate !== null || isTrace));
