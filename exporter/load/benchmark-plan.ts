import type { CancellationPlan, PhaseLoad } from './schedule/load-plan.ts';
import type { TimeLimits } from './responses/deadlines.ts';
import type { ErrorLimit } from './phases/early-end.ts';
import type { RequestForm } from './requests/request-feed.ts';
import type { Share } from './workers/share.ts';

/** Everything that determines what a benchmark sends. */
export interface BenchmarkPlan extends TimeLimits {
  readonly form: RequestForm;
  /** Null: none. */
  readonly warmup: PhaseLoad | null;
  readonly measure: PhaseLoad;
  /**
   * Which part of the load this machine generates when several machines generate it together; the phases describe the
   * total load.
   */
  readonly shard: Share;
  /** Start of the measure phase's clock, relative to the start of the run; null: when the phase begins. */
  readonly measureStart_ns: number | null;
  /** In the measure phase; null: every request is read to its end. */
  readonly cancellation: CancellationPlan | null;
  /** Output tokens of the whole run; null: no limit. */
  readonly maxOutputTokensTotal: number | null;
  /** Stops the run. */
  readonly errorLimit: ErrorLimit;
  /** The run fails when a larger share of its requests failed (0 to 1); null: no limit. */
  readonly failedRequestThreshold: number | null;
  /** Texts that no message may contain, such as the API key. */
  readonly secrets: readonly string[];
}

/** AIPerf's `--benchmark-grace-period`. */
export const DEFAULT_GRACE_PERIOD_SECONDS = 30;
