import type { ClientHealth } from '../../core/run/result.ts';
import type { PhaseName } from '../../core/run/record.ts';
import type { PhaseLoad } from './benchmark-plan.ts';
import type { PhaseResult } from './phases.ts';

/** A phase whose turn has come. */
export interface PhaseTurn {
  readonly phase: PhaseName;
  readonly load: PhaseLoad;
  /** Position in the run of the phase's first request. */
  readonly firstIndex: number;
}

/** A phase whose first requests are written: nothing keeps it from sending them. */
export interface PreparedPhase {
  /**
   * Resolves when its last request has ended. `start_ns`: from when its times count, in nanoseconds since the run's start;
   * null: from now on.
   */
  run(start_ns: number | null): Promise<PhaseResult>;
}

/** Makes the load of a run, phase after phase: in this thread, or in workers. */
export interface LoadGenerator {
  prepare(turn: PhaseTurn): Promise<PreparedPhase>;
  /** What the measuring cost so far. */
  health(): ClientHealth;
  stop(): void;
}
