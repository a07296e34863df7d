import type { Random } from './seeded-random.ts';

export interface ChangePointOptions {
  /** A split is a change when a random order of its values splits as well with at most this probability. */
  readonly significance: number;
  /** Minimum number of values on each side of a change. */
  readonly fewest: number;
  /** Draws the random orders. */
  readonly random: Random;
}

export interface ChangePoint {
  /** The first value of the new level. */
  readonly index: number;
  /** The permutation test's p-value: (1 + orders that split as well) ÷ (1 + orders drawn). */
  readonly p: number;
}

/** Length of a window: a short-lived level would not be significant in a longer series. */
const WINDOW = 100;
/** Ends up to which a split's right side may reach, as shares of the segment: a level that returns is found as well. */
const ENDS = [1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8];

/**
 * Where the distribution of a series changes: E-divisive (Matteson and James, Journal of the American Statistical
 * Association 109, 2014) with exponent 1. The best split of a segment maximizes the energy distance between its left side
 * and what follows up to some end (eighths of the segment), weighted by their sizes; a split that is significant by
 * permutation divides the segment, and both parts are looked at again.
 *
 * The series is looked at in windows of 100 values, each from the last change on. A test draws as many random orders as the
 * significance needs and ends at the first that makes significance impossible, so that only real changes cost all of
 * them. Deterministic for the same generator.
 */
export function changePointsOf(series: readonly number[], options: ChangePointOptions): readonly ChangePoint[] {
  const found: ChangePoint[] = [];
  for (let start = 0; start < series.length;) {
    const end = Math.min(series.length, start + WINDOW);
    const [first] = divide(series.slice(start, end), options);
    if (first !== undefined) {
      start += first.index;
      found.push({ index: start, p: first.p });
    } else if (end === series.length) break;
    else start += WINDOW / 2;
  }
  return found;
}

function divide(window: readonly number[], options: ChangePointOptions): readonly ChangePoint[] {
  const found: ChangePoint[] = [];
  const open: { start: number; end: number }[] = [{ start: 0, end: window.length }];
  for (let segment = open.pop(); segment !== undefined; segment = open.pop()) {
    const { start, end } = segment;
    const split = splitTest(Float64Array.from(window.slice(start, end)), options);
    if (split === null) continue;
    const index = start + split.at;
    found.push({ index, p: split.p });
    open.push({ start, end: index }, { start: index, end });
  }
  return found.sort((x, y) => x.index - y.index);
}

/**
 * The split with the largest weighted energy distance: of `at` and all further values from those before. Null when the sides
 * cannot have `fewest` values, at least 2.
 */
export function bestSplit(values: readonly number[], fewest: number): { at: number; value: number } | null {
  if (values.length < 2 * fewest) return null;
  const splits = new EnergySplits(Float64Array.from(values), fewest);
  return splits.best(Uint32Array.from(values, (_, i) => i));
}

/** The best split of a segment, when it is significant. */
function splitTest(
  segment: Float64Array,
  { significance, fewest, random }: ChangePointOptions,
): { at: number; p: number } | null {
  const n = segment.length;
  if (n < 2 * fewest) return null;
  const ranks = new EnergySplits(segment, fewest);
  const order = Uint32Array.from(segment, (_, i) => i);
  const observed = ranks.best(order);
  // With R orders the smallest p is 1 ÷ (R + 1).
  const orders = Math.ceil(1 / significance) - 1;
  const allowed = Math.floor(significance * (orders + 1)) - 1;
  let asGood = 0;
  for (let i = 0; i < orders; i++) {
    shuffle(order, random);
    if (ranks.best(order).value >= observed.value * (1 - 1e-12) && ++asGood > allowed) return null;
  }
  return { at: observed.at, p: (1 + asGood) / (1 + orders) };
}

/**
 * The weighted energy distance of every split of a segment, in n log n: as a value passes from the right side to the
 * left, only the sums of its distances to both sides change, and trees of counts and sums over the sorted values give these.
 */
class EnergySplits {
  readonly #values: Float64Array;
  readonly #places: Uint32Array;
  readonly #fewest: number;
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;
  /** Sums of distances within the first m values, and within those from m to the end. */
  readonly #left: Float64Array;
  readonly #right: Float64Array;

  constructor(values: Float64Array, fewest: number) {
    const n = values.length;
    this.#values = values;
    this.#fewest = fewest;
    this.#places = new Uint32Array(n);
    const sorted = Uint32Array.from(values, (_, i) => i).sort((i, j) => (values[i] ?? 0) - (values[j] ?? 0));
    sorted.forEach((index, place) => (this.#places[index] = place));
    this.#counts = new Float64Array(n + 1);
    this.#sums = new Float64Array(n + 1);
    this.#left = new Float64Array(n + 1);
    this.#right = new Float64Array(n + 1);
  }

  /** The best split of the values in an order: the number of values on its left, and its statistic. */
  best(order: Uint32Array): { at: number; value: number } {
    const n = order.length;
    let best = { at: this.#fewest, value: -Infinity };
    this.#withinSums(order, 0, n, 1, this.#left);
    for (const share of ENDS) {
      const end = Math.round(n * share);
      if (end < 2 * this.#fewest) break;
      this.#withinSums(order, end - 1, -1, -1, this.#right);
      const all = this.#left[end] ?? NaN;
      for (let m = this.#fewest; m <= end - this.#fewest; m++) {
        const others = end - m;
        const left = this.#left[m] ?? NaN;
        const right = this.#right[m] ?? NaN;
        const between = all - left - right;
        const energy =
          (2 * between) / (m * others) - (2 * left) / (m * (m - 1)) - (2 * right) / (others * (others - 1));
        const statistic = ((m * others) / end) * energy;
        if (statistic > best.value) best = { at: m, value: statistic };
      }
    }
    return best;
  }

  /** Going through the order from one place to another, the sums of distances within what was passed. */
  #withinSums(order: Uint32Array, from: number, to: number, step: 1 | -1, within: Float64Array): void {
    this.#counts.fill(0);
    this.#sums.fill(0);
    let sum = 0;
    let total = 0;
    let passed = 0;
    if (step === 1) within[from] = 0;
    for (let m = from; m !== to; m += step) {
      const index = order[m] ?? 0;
      const value = this.#values[index] ?? NaN;
      const place = this.#places[index] ?? 0;
      let count = 0;
      let below = 0;
      for (let i = place; i > 0; i -= i & -i) {
        count += this.#counts[i] ?? 0;
        below += this.#sums[i] ?? 0;
      }
      sum += value * count - below + (total - below) - value * (passed - count);
      total += value;
      passed++;
      for (let i = place + 1; i < this.#counts.length; i += i & -i) {
        this.#counts[i] = (this.#counts[i] ?? 0) + 1;
        this.#sums[i] = (this.#sums[i] ?? 0) + value;
      }
      within[step === 1 ? m + 1 : m] = sum;
    }
  }
}

/** Fisher and Yates. */
function shuffle(order: Uint32Array, random: Random): void {
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const kept = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = kept;
  }
}
