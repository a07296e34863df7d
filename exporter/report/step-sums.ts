import { binSeconds } from './time-bins.ts';
import type { TimeBins } from './time-bins.ts';

/** Amounts are summed in steps of this length while the records are read; a bin is a whole number of steps. */
const STEP_SECONDS = 0.1;

/** Amounts over the time of a run, in memory bounded by the number of bins. */
export class StepSums {
  readonly #steps: number[] = [];

  add(at_seconds: number, amount: number): void {
    addAt(this.#steps, Math.floor(at_seconds / STEP_SECONDS), amount);
  }

  /** The sum of each bin over its length. */
  perSecond(bins: TimeBins): number[] {
    return meansOf(bins, this.#steps);
  }
}

/** Number of open intervals over the time of a run, in memory bounded by the number of bins. */
export class OpenIntervals {
  /** Seconds of the intervals that begin or end in a step. */
  readonly #edges: number[] = [];
  /** Change of the number of intervals that are open for a whole step. */
  readonly #changes: number[] = [];

  add(from_seconds: number, to_seconds: number): void {
    const first = Math.floor(from_seconds / STEP_SECONDS);
    const last = Math.floor(to_seconds / STEP_SECONDS);
    if (first === last) {
      addAt(this.#edges, first, to_seconds - from_seconds);
      return;
    }
    addAt(this.#edges, first, (first + 1) * STEP_SECONDS - from_seconds);
    addAt(this.#edges, last, to_seconds - last * STEP_SECONDS);
    addAt(this.#changes, first + 1, 1);
    addAt(this.#changes, last, -1);
  }

  /** The mean number of each bin. */
  mean(bins: TimeBins): number[] {
    let open = 0;
    const seconds = this.#edges.map((edge, step) => {
      open += this.#changes[step] ?? 0;
      return edge + open * STEP_SECONDS;
    });
    return meansOf(bins, seconds);
  }
}

function addAt(steps: number[], step: number, amount: number): void {
  while (steps.length <= step) steps.push(0);
  steps[step] = (steps[step] ?? 0) + amount;
}

function meansOf(bins: TimeBins, steps: readonly number[]): number[] {
  const sums = new Array<number>(bins.count).fill(0);
  const stepsPerBin = Math.round(bins.widthSeconds / STEP_SECONDS);
  steps.forEach((amount, step) => {
    const bin = Math.min(bins.count - 1, Math.floor(step / stepsPerBin));
    sums[bin] = (sums[bin] ?? 0) + amount;
  });
  return sums.map((sum, bin) => sum / binSeconds(bins, bin));
}
