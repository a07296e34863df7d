import type { ClientHealth } from '../../core/run/result.ts';
import type { LoadPhase } from '../../core/run/record.ts';
import type { PhaseLoad } from './schedule/load-plan.ts';
import type { PhaseRun } from './phases/phase-result.ts';

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
