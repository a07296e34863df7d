import type { ErrorReason, Outcome, PhaseName, LoadPhase } from '../../core/run/record.ts';
import type { ClientHealth } from '../../core/run/result.ts';
import type { ResponseFindings } from './responses/response-findings.ts';
import type { PhaseLoad } from './schedule/load-plan.ts';

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
