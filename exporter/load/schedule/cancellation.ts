import type { LoadPhase } from '../../../core/run/record.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';

/** Requests that are cancelled on purpose, as impatient users do. */
export interface CancellationPlan {
  /** Share of the requests, 0 to 1. */
  readonly ratio: number;
  /** Relative to the time the request was sent. */
  readonly delaySeconds: number;
  /** The same seed picks the same requests. */
  readonly seed: number;
}

/** Whether the request at a position of a phase is cancelled. */
export function isCancelled(plan: CancellationPlan, phase: LoadPhase, position: number): boolean {
  return seededRandom(`${plan.seed}/cancellation/${phase}/${position}`)() < plan.ratio;
}
