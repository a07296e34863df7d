import { percentile } from './percentiles.ts';
import type { KnownInterval } from './shift.ts';
import { studentT, studentTTail } from './student-t.ts';

/** Where one further value of a sample lies, and how far a new value is from the sample's center. */
export interface Prediction {
  /** The new value's distance from the center, at the smallest and the largest corner of values known as intervals. */
  readonly estimate: KnownInterval;
  /** The new value's distance less what one further value of the sample varies by, each end wrong with probability `p.end`. */
  readonly interval: KnownInterval;
  /** One-sided p-values of "the new value is from the same distribution", each of the corner that supports it least. */
  readonly p: { readonly up: number; readonly down: number };
  /** Probability with which one end of the interval misses. */
  readonly end: number;
}

/**
 * Against the extremes of the sample: valid for any continuous distribution of exchangeable values. A value beyond all N
 * others has p = 1 ÷ (N + 1). Ties count against a decision.
 */
export function rankPrediction(sample: readonly KnownInterval[], [low, high]: KnownInterval): Prediction {
  const lows = Float64Array.from(sample, ([from]) => from).sort();
  const highs = Float64Array.from(sample, ([, to]) => to).sort();
  const chance = (others: number): number => (1 + others) / (sample.length + 1);
  return {
    estimate: [low - percentile(highs, 0.5), high - percentile(lows, 0.5)],
    interval: [low - (highs.at(-1) ?? NaN), high - (lows[0] ?? NaN)],
    p: {
      up: chance(highs.filter((value) => value >= low).length),
      down: chance(lows.filter((value) => value <= high).length),
    },
    end: chance(0),
  };
}

/**
 * Student's t prediction interval, for samples too small for ranks: assumes normal values. `end` is the probability with
 * which one end misses. For values known as intervals the standard deviation is bounded from above: that of the
 * middles plus the root mean square of the half widths.
 */
export function tPrediction(sample: readonly KnownInterval[], [low, high]: KnownInterval, end: number): Prediction {
  const n = sample.length;
  const degrees = n - 1;
  const lowMean = mean(sample.map(([from]) => from));
  const highMean = mean(sample.map(([, to]) => to));
  const middles = sample.map(([from, to]) => from + (to - from) / 2);
  const middleMean = mean(middles);
  const rootMeanSquare = (values: readonly number[]): number =>
    Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / degrees);
  const deviation =
    rootMeanSquare(middles.map((value) => value - middleMean)) +
    rootMeanSquare(sample.map(([from, to]) => (to - from) / 2));
  const error = deviation * Math.sqrt(1 + 1 / n);
  const estimate: KnownInterval = [low - highMean, high - lowMean];
  const reach = studentT(1 - 2 * end, degrees) * error;
  return {
    estimate,
    interval: [estimate[0] - reach, estimate[1] + reach],
    p: { up: tail(estimate[0], error, degrees), down: tail(-estimate[1], error, degrees) },
    end,
  };
}

/** Equal values have no error: any distance is then beyond them, and none is not. */
function tail(distance: number, error: number, degrees: number): number {
  if (error === 0) return distance > 0 ? 0 : 1;
  return studentTTail(distance / error, degrees);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
