import type { ErrorReason, Outcome, PhaseName, LoadPhase } from '../../core/run/record.ts';
import type { ClientHealth } from '../../core/run/result.ts';
import type { ResponseFindings } from './responses/response-findings.ts';
import type { PhaseLoad, CancellationPlan } from './schedule/load-plan.ts';
import type { TimeLimits } from './responses/response-reader.ts';
import type { ErrorLimit } from './phases/early-end.ts';
import type { RequestForm } from './requests/request-feed.ts';
import type { Share } from './workers/share.ts';

/** Result of a phase; times are relative to the start of the run. */
export interface PhaseResult {
  readonly phase: PhaseName;
  /** When its first request was sent; null when none was sent. */
  readonly start_ns: number | null;
  /** When its last request had ended. */
  readonly end_ns: number | null;
  readonly requests: Readonly<Record<Outcome, number>>;
  /** Number of requests sent. */
  readonly sent: number;
  /** Positions of the plan that were assigned: more than were sent when conversations ended before their last turn. */
  readonly positions: number;
  /** Number of requests that were due and got no free slot before the phase stopped sending. */
  readonly unsent: number;
  /** Texts that its ok requests embedded, scored or ranked; null or absent: responses are generated. */
  readonly documents?: number | null;
  readonly errors: Readonly<Partial<Record<ErrorReason, number>>>;
  /** The first message of each reason, for one line of a log. */
  readonly messages: Readonly<Partial<Record<ErrorReason, string>>>;
  /** Requests sent a second time because their kept connection was dead. */
  readonly connectionRetries: number;
  /** What of the responses a user must know; null or absent: nothing. */
  readonly findings?: ResponseFindings | null;
  /** Why the phase was stopped because of too many errors; null when it was not. */
  readonly tooManyErrors: string | null;
  /** Why it ended early because of the limit of output tokens; null when it did not. */
  readonly overBudget: string | null;
  /** Why the client could not continue; null when nothing failed. */
  readonly broken: string | null;
}

/** A phase whose requests have ended, while those of its cool-down may be in flight. */
export interface PhaseRun {
  readonly result: PhaseResult;
  /** Null: no request of a cool-down was sent. */
  readonly coolDown: RunningCoolDown | null;
}

export interface RunningCoolDown {
  /** When its first request was sent, relative to the start of the run. */
  readonly start_ns: number;
  /** Resolves when its last request has ended. */
  readonly ended: Promise<PhaseResult>;
}

/** The phase to run next. */
export interface PhaseTurn {
  readonly phase: LoadPhase;
  readonly load: PhaseLoad;
  /** Position in the run of the phase's first request. */
  readonly firstIndex: number;
}

/** A phase whose first requests are written, so that it can start sending without delay. */
export interface PreparedPhase {
  /**
   * Resolves when its last request has ended. `start_ns`: start of its clock, in nanoseconds since the start of the
   * run; null: now.
   */
  run(start_ns: number | null): Promise<PhaseRun>;
}

/** Generates the load of a run, phase after phase: in this thread, or in workers. */
export interface LoadGenerator {
  prepare(turn: PhaseTurn): Promise<PreparedPhase>;
  /** The cost of the measurement so far. */
  health(): ClientHealth;
  stop(): void;
}

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
