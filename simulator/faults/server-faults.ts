import { seededRandom } from '../../core/stats/seeded-random.ts';
import type { Random } from '../../core/stats/seeded-random.ts';
import { windowEnd } from '../engine/window.ts';
import type { FaultPlan, Refusal } from './plan.ts';

/** What is to happen to one stream; counts of tokens that are sent before it. */
export interface StreamFate {
  readonly resetAfterTokens: number | null;
  readonly malformedAfterTokens: number | null;
}

/** The fate of a stream that nothing happens to. */
export const UNTROUBLED: StreamFate = { resetAfterTokens: null, malformedAfterTokens: null };

/** The faults of one server, drawn from its seed: the same requests in the same order meet the same. */
export class ServerFaults {
  readonly #plan: FaultPlan;
  readonly #random: Random;

  constructor(plan: FaultPlan, seed: number) {
    this.#plan = plan;
    // Not the engine's own sequence: a fault that is drawn must not change the times of its steps.
    this.#random = seededRandom(seed ^ 0x5f3759df);
  }

  /** Whether the server still starts. @param time_s since its start */
  isStarting(time_s: number): boolean {
    return time_s < (this.#plan.slowStart?.seconds ?? 0);
  }

  /** The refusal that a request meets which comes now. */
  refusal(time_s: number): Refusal | null {
    const due = this.#plan.refusals.find((refusal) => windowEnd(refusal, time_s) !== null);
    return due !== undefined && this.#random() < due.rate ? due : null;
  }

  streamFate(): StreamFate {
    const { reset, malformed } = this.#plan;
    return {
      resetAfterTokens: reset !== null && this.#random() < reset.rate ? reset.afterTokens : null,
      malformedAfterTokens: malformed !== null && this.#random() < malformed.rate ? malformed.afterTokens : null,
    };
  }
}
