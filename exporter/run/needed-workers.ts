import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { mayWait, slotsOf } from '../load/schedule/load-plan.ts';
import { chooseWorkers, type ChosenWorkers } from '../load/workers/choose-workers.ts';
import { shareOf, WHOLE } from '../load/workers/share.ts';
import { WorkerLoad } from '../load/workers/worker-load.ts';
import { RefusedError } from './refusal.ts';
import type { RunRequest } from './run-request.ts';

/** Number of threads that generate a run's load on this machine. Throws a `RefusedError` when a shard has no load. */
export function neededWorkers({ measure, warmup, outputTokens, workers, shard }: RunRequest): ChosenWorkers {
  const loads = [measure.load, ...(warmup === null ? [] : [warmup.load])];
  if (shard !== null) {
    const { share } = shard;
    const least = Math.min(measure.requestCount ?? Infinity, ...loads.map(slotsOf));
    if (shareOf(least, share) === 0)
      throw new RefusedError(
        `a load of ${least} requests or slots leaves none for shard ${share.part} of ${share.parts}`,
      );
  }
  const chosen = chooseWorkers(workers, loads, outputTokens, availableParallelism(), shard?.share ?? WHOLE);
  if (chosen.workers === 1 || !loads.some(mayWait)) return chosen;
  const line = `${chosen.line ?? `workers: ${chosen.workers}`}; each has a part of the limit of requests in flight or in prefill`;
  return { ...chosen, line };
}

/** Starts workers for a run; each reads the request's files itself. */
export function beginWorkers(request: RunRequest, workers: number): WorkerLoad {
  // The entry is a source file in a checkout and compiled in a package: it has the extension of this file.
  const entry = new URL(`./load-worker${extname(import.meta.url)}`, import.meta.url);
  return new WorkerLoad(entry, { ...request, serverMetrics: null, objectives: null } satisfies RunRequest, workers);
}
