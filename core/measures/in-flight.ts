import { FloatColumn } from '../stats/float-column.ts';
import { ascendingOrder, firstNotBelow } from '../stats/percentiles.ts';

/** Statistics of a number that changes in steps, each value weighted by how long it lasted. */
export interface StepStatistics {
  readonly mean: number;
  /** Weighted by time, with the mean as given. */
  readonly std: number;
  readonly min: number;
  readonly max: number;
  /** The smallest value at or below which the number stayed for a share `q` of the time. */
  readonly quantile: (q: number) => number;
}

/**
 * How many intervals were open at once, from `from_ns` to `to_ns`: the concurrency that a load had, as AIPerf's sweep line
 * has it. `starts_ns` and `ends_ns` are those of the intervals, each in any order. Null when the window lasts no time.
 */
export function inFlightStatistics(
  starts_ns: Float64Array,
  ends_ns: Float64Array,
  from_ns: number,
  to_ns: number,
): StepStatistics | null {
  if (!(to_ns > from_ns)) return null;
  const time_ns = timeAtLevel(starts_ns.slice().sort(), ends_ns.slice().sort(), from_ns, to_ns);
  const levels = [...time_ns.keys()].sort((a, b) => a - b);
  const share = (level: number): number => (time_ns.get(level) ?? 0) / (to_ns - from_ns);
  const mean = levels.reduce((sum, level) => sum + level * share(level), 0);
  return {
    mean,
    std: Math.sqrt(levels.reduce((sum, level) => sum + (level - mean) ** 2 * share(level), 0)),
    min: levels[0] ?? 0,
    max: levels.at(-1) ?? 0,
    quantile: (q) => {
      let below = 0;
      for (const level of levels) {
        below += share(level);
        if (below >= q) return level;
      }
      return levels.at(-1) ?? 0;
    },
  };
}

/** How long each number in flight lasted within the window. */
function timeAtLevel(
  starts_ns: Float64Array,
  ends_ns: Float64Array,
  from_ns: number,
  to_ns: number,
): Map<number, number> {
  const time_ns = new Map<number, number>();
  let level = 0;
  let since = from_ns;
  const until = (at_ns: number): void => {
    const at = Math.min(Math.max(at_ns, from_ns), to_ns);
    if (at > since) time_ns.set(level, (time_ns.get(level) ?? 0) + at - since);
    since = Math.max(since, at);
  };
  let started = 0;
  let ended = 0;
  while (started < starts_ns.length || ended < ends_ns.length) {
    const start = starts_ns[started] ?? Infinity;
    const end = ends_ns[ended] ?? Infinity;
    until(Math.min(start, end));
    if (start < end) {
      level += 1;
      started += 1;
    } else {
      level -= 1;
      ended += 1;
    }
  }
  until(to_ns);
  return time_ns;
}

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

/**
 * A dip below the planned load that is shorter than this is a slot being refilled and does not end the full load:
 * between the end of one request and the sending of the next the client itself needs time.
 */
const REFILL_NS = 10_000_000;

/** The stretches of a run in which as many requests were in flight as planned. Times are ns since the run's start. */
export class FullLoad {
  /** Starts and ends by turns, ascending. */
  readonly #edges: readonly number[];

  /**
   * `sent_ns` and `end_ns` are those of the measured requests, each ascending; they are gone through once. A request is in
   * flight from when it was sent until it ended. `planned` is the concurrency that the load aims at, at least 1.
   */
  constructor(sent_ns: Iterable<number>, end_ns: Iterable<number>, planned: number) {
    this.#edges = bridged(fullStretches(sent_ns, end_ns, planned));
  }

  /** How long the load was full, in seconds; 0 when it never was. */
  get seconds(): number {
    let total_ns = 0;
    this.#edges.forEach((edge, i) => (total_ns += i % 2 === 0 ? -edge : edge));
    return total_ns * 1e-9;
  }

  /** Whether the load was full at a moment, both edges of each stretch included. */
  holds(at_ns: number): boolean {
    const edge = firstNotBelow(this.#edges, at_ns);
    return edge % 2 === 1 || this.#edges[edge] === at_ns;
  }
}

type Stretch = readonly [start_ns: number, end_ns: number];

/** From when the number in flight reaches `planned` until it falls below it; both are in order. */
function* fullStretches(sent_ns: Iterable<number>, end_ns: Iterable<number>, planned: number): Generator<Stretch> {
  let inFlight = 0;
  let since = NaN;
  const ends = end_ns[Symbol.iterator]();
  let end = ends.next();
  for (const sent of sent_ns) {
    // Who is sent at the moment of another's end takes its place: the load does not dip.
    for (; end.done !== true && end.value < sent; end = ends.next()) {
      if (inFlight === planned) yield [since, end.value];
      inFlight -= 1;
    }
    inFlight += 1;
    if (inFlight === planned) since = sent;
  }
  for (; end.done !== true; end = ends.next(), inFlight--) {
    if (inFlight === planned) yield [since, end.value];
  }
}

/** The edges of the stretches, without the short dips between them and without stretches that last no time. */
function bridged(stretches: Iterable<Stretch>): number[] {
  const edges: number[] = [];
  for (const [start, end] of stretches) {
    const before = edges[edges.length - 1];
    if (end === start) continue;
    if (before !== undefined && start - before < REFILL_NS) edges[edges.length - 1] = end;
    else edges.push(start, end);
  }
  return edges;
}
