import type { CancellationPlan } from './cancellation.ts';
import type { TimeLimits } from './deadlines.ts';
import type { LoadPlan } from './load-plan.ts';
import type { RequestForm } from './request-feed.ts';
import type { Share } from './workers/share.ts';

/** One phase: its load, and when it ends, which is with whichever comes first; at least one is given. */
export interface PhaseLoad {
  readonly load: LoadPlan;
  readonly requestCount: number | null;
  readonly durationSeconds: number | null;
  /** How long requests under way may take after the duration. */
  readonly gracePeriodSeconds: number;
}

/** Everything that decides what a benchmark sends. */
export interface BenchmarkPlan extends TimeLimits {
  readonly form: RequestForm;
  /** Null: none. */
  readonly warmup: PhaseLoad | null;
  readonly measure: PhaseLoad;
  /** Which part of the load is made here when several machines make it together; the phases tell the load of all. */
  readonly shard: Share;
  /** From when the times of the measure phase count, since the run's start; null: from when it begins. */
  readonly measureStart_ns: number | null;
  /** Of the measure phase; null: every request is read to its end. */
  readonly cancellation: CancellationPlan | null;
  /** Output tokens of the whole run; null is no limit. */
  readonly maxOutputTokensTotal: number | null;
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
