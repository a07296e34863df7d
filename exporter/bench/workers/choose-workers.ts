import { shareOf, type Share } from './share.ts';

/**
 * What takes one thread half a core, so that it is not late: so many streams at a time at 50 chunks a second each (a chunk
 * costs about 10 µs, metrics and files included), or so many requests a second that begin.
 */
const STREAMS_PER_WORKER = 1024;
const REQUESTS_PER_SECOND_PER_WORKER = 1500;
/** How long an output token is taken to last when streams have to be guessed from a rate. */
const SECONDS_PER_TOKEN = 0.02;

/** How large a load is, as far as it can be told before it begins. */
export interface LoadSize {
  /** Requests in flight, or at most in flight; null without a limit. */
  readonly concurrency: number | null;
  readonly prefillConcurrency: number | null;
  /** Requests per second; null when they do not come at a rate. */
  readonly requestRate: number | null;
  /** Of each answer. */
  readonly outputTokens: number;
}

export interface ChosenWorkers {
  readonly workers: number;
  /** One line when a person should know; null when there is nothing to say. */
  readonly line: string | null;
}

/**
 * How many workers make the loads of a run's phases on one machine. Null asked: as many as the largest load needs, but
 * one core is left to the rest. No worker is without a slot of each limit that is shared out among them.
 */
export function chooseWorkers(
  asked: number | null,
  loads: readonly LoadSize[],
  cores: number,
  shard: Share,
): ChosenWorkers {
  const most = Math.max(1, Math.min(...loads.map((load) => slotsOf(load, shard))));
  if (asked !== null) {
    const workers = Math.min(asked, most);
    const line =
      workers < asked ? `workers: ${workers} of the ${asked} asked for, one for each slot of the load` : null;
    return { workers, line };
  }
  const needed = Math.max(...loads.map((load) => neededBy(load, shard)));
  const workers = Math.min(needed, most, Math.max(1, cores - 1));
  if (workers === 1) return { workers, line: null };
  return { workers, line: `workers: ${workers}, because the load is more than one thread can read in time` };
}

function slotsOf({ concurrency, prefillConcurrency }: LoadSize, shard: Share): number {
  return shareOf(Math.min(concurrency ?? Infinity, prefillConcurrency ?? Infinity), shard);
}

function neededBy({ concurrency, requestRate, outputTokens }: LoadSize, { parts }: Share): number {
  const guessed = requestRate === null ? Infinity : requestRate * outputTokens * SECONDS_PER_TOKEN;
  const streams = Math.min(concurrency ?? (requestRate === null ? 1 : Infinity), guessed);
  const largest = Math.max(streams / STREAMS_PER_WORKER, (requestRate ?? 0) / REQUESTS_PER_SECOND_PER_WORKER);
  return Math.max(1, Math.ceil(largest / parts));
}
