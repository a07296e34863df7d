import { ascendingOrder } from '../stats/ascending-order.ts';
import { FloatColumn } from '../stats/float-column.ts';
import type { StepStatistics } from './in-flight.ts';

/** Sums that should cancel out leave this much of the largest value behind at most. */
const ROUNDING = 1e-9;

/** A number that changes in steps: from `at_ns[i]` on it is `values[i]`, and 0 before the first. */
export interface StepCurve {
  /** Ascending. */
  readonly at_ns: Float64Array;
  readonly values: Float64Array;
}

/** Adds up amounts that each last for a while, as AIPerf's sweep lines do: what ends at a moment goes before what begins. */
export class StepSum {
  readonly #falls = { at_ns: new FloatColumn(), by: new FloatColumn() };
  readonly #rises = { at_ns: new FloatColumn(), by: new FloatColumn() };

  /** The number becomes larger by `amount` (or smaller, below 0) from a moment on. */
  change(at_ns: number, amount: number): void {
    const { at_ns: moments, by } = amount < 0 ? this.#falls : this.#rises;
    moments.append(at_ns);
    by.append(amount);
  }

  add(from_ns: number, to_ns: number, amount: number): void {
    this.change(from_ns, amount);
    this.change(to_ns, -amount);
  }

  curve(): StepCurve {
    const moments = joined(this.#falls.at_ns, this.#rises.at_ns);
    const amounts = joined(this.#falls.by, this.#rises.by);
    const order = ascendingOrder(moments);
    const at_ns = new Float64Array(order.length);
    const values = new Float64Array(order.length);
    let sum = 0;
    let largest = 0;
    order.forEach((event, i) => {
      sum += amounts[event] ?? NaN;
      at_ns[i] = moments[event] ?? NaN;
      values[i] = sum;
      largest = Math.max(largest, Math.abs(sum));
    });
    for (let i = 0; i < values.length; i++) if (Math.abs(values[i] ?? NaN) < ROUNDING * largest) values[i] = 0;
    return { at_ns, values };
  }
}

/** One curve over another; 0 where the other is not above 0. */
export function quotient(numerator: StepCurve, denominator: StepCurve): StepCurve {
  const at_ns = joinedMoments([numerator, denominator]);
  const over = follower(numerator);
  const under = follower(denominator);
  const values = at_ns.map((at) => {
    const [amount, divisor] = [over(at), under(at)];
    return divisor > 0 ? amount / divisor : 0;
  });
  return { at_ns, values };
}

/**
 * Statistics of a curve within a window, each value weighted by how long it lasted; with `active` only of the time in which
 * that curve is above 0. Null when that is no time at all.
 */
export function curveStatistics(
  curve: StepCurve,
  from_ns: number,
  to_ns: number,
  active: StepCurve | null = null,
): StepStatistics | null {
  const inside = joinedMoments(active === null ? [curve] : [curve, active]).filter((at) => at > from_ns && at < to_ns);
  const value = follower(curve);
  const mask = active === null ? () => 1 : follower(active);
  const values = new FloatColumn();
  const times_ns = new FloatColumn();
  const visit = (at: number, until: number): void => {
    const [here, counts] = [value(at), mask(at) > 0];
    if (!counts || !(until > at)) return;
    values.append(here);
    times_ns.append(until - at);
  };
  let at = from_ns;
  for (const next of inside) {
    visit(at, next);
    at = next;
  }
  visit(at, to_ns);
  return weighted(values.toArray(), times_ns.toArray());
}

function weighted(values: Float64Array, times_ns: Float64Array): StepStatistics | null {
  const total_ns = times_ns.reduce((sum, time) => sum + time, 0);
  if (!(total_ns > 0)) return null;
  const over = (term: (value: number) => number): number =>
    values.reduce((sum, value, i) => sum + term(value) * (times_ns[i] ?? NaN), 0) / total_ns;
  const mean = over((value) => value);
  const order = ascendingOrder(values);
  const sorted = (rank: number): number => values[order[rank] ?? NaN] ?? NaN;
  return {
    mean,
    std: Math.sqrt(over((value) => (value - mean) ** 2)),
    min: sorted(0),
    max: sorted(order.length - 1),
    quantile: (q) => {
      let below_ns = 0;
      const found = order.findIndex((i) => (below_ns += times_ns[i] ?? NaN) / total_ns >= q);
      return sorted(found < 0 ? order.length - 1 : found);
    },
  };
}

/** What a curve is at one moment after the other. */
function follower({ at_ns, values }: StepCurve): (at_ns: number) => number {
  let next = 0;
  return (at) => {
    while (next < at_ns.length && (at_ns[next] ?? NaN) <= at) next += 1;
    return next === 0 ? 0 : (values[next - 1] ?? NaN);
  };
}

/** The moments of all of them, ascending, each once. */
function joinedMoments(curves: readonly StepCurve[]): Float64Array {
  const all = new Float64Array(curves.reduce((sum, { at_ns }) => sum + at_ns.length, 0));
  let length = 0;
  for (const { at_ns } of curves) {
    all.set(at_ns, length);
    length += at_ns.length;
  }
  return all.sort().filter((at, i) => at !== all[i - 1]);
}

function joined(first: FloatColumn, second: FloatColumn): Float64Array {
  const all = new Float64Array(first.length + second.length);
  all.set(first.toArray());
  all.set(second.toArray(), first.length);
  return all;
}
