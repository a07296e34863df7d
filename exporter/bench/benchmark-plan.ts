import type { TimeLimits } from './deadlines.ts';
import type { RequestForm } from './request-feed.ts';

/** Everything that decides what a benchmark sends. */
export interface BenchmarkPlan extends TimeLimits {
  readonly form: RequestForm;
  readonly concurrency: number;
  /** 0 is no warm-up. */
  readonly warmupRequestCount: number;
  /** The measure phase ends with whichever comes first; at least one is given. */
  readonly requestCount: number | null;
  readonly durationSeconds: number | null;
  /** How long requests under way may take after the duration. */
  readonly gracePeriodSeconds: number;
  /** Stops the run; 0 is no limit. */
  readonly maxConsecutiveErrors: number;
  /** The run has failed when a larger share of its requests did (0 to 1); null is no limit. */
  readonly failedRequestThreshold: number | null;
  /** Texts that no message may carry, such as the API key. */
  readonly secrets: readonly string[];
}

/** AIPerf's `--benchmark-grace-period`. */
export const DEFAULT_GRACE_PERIOD_SECONDS = 30;
/** A server that answers only errors is left alone after this many. */
export const DEFAULT_MAX_CONSECUTIVE_ERRORS = 50;
