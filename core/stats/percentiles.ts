/**
 * The value at `weight` (0 to 1) of the way from `low` to `high`, rounded as numpy's percentiles are: from the nearer
 * end. An infinite end does not give NaN: any weight above 0 towards +Infinity is +Infinity.
 */
export function interpolate(low: number, high: number, weight: number): number {
  if (weight === 0 || low === high) return low;
  const difference = high - low;
  if (difference === Infinity) return high === Infinity ? high : low;
  return weight < 0.5 ? low + difference * weight : high - difference * (1 - weight);
}

/** The percentiles of a distribution in `result.json`, with the names that they have there. */
export const PERCENTILES = {
  p1: 0.01,
  p5: 0.05,
  p10: 0.1,
  p25: 0.25,
  p50: 0.5,
  p75: 0.75,
  p90: 0.9,
  p95: 0.95,
  p99: 0.99,
  p99_9: 0.999,
} as const;

export type PercentileName = keyof typeof PERCENTILES;

/** The names in ascending order of their quantile. */
export const PERCENTILE_NAMES = Object.keys(PERCENTILES) as PercentileName[];

/**
 * The q-th percentile, linear between order statistics: the value at rank (n - 1)q counted from 0.
 *
 * The default of numpy ("linear", type 7 of Hyndman and Fan) and AIPerf's, to the last digit. `sorted` is ascending
 * and free of NaN; +Infinity is a value like others. NaN when it is empty.
 * @throws RangeError when q is not within 0 to 1.
 */
export function percentile(sorted: Float64Array | readonly number[], q: number): number {
  if (!(q >= 0 && q <= 1)) throw new RangeError(`quantile ${q} is not within 0 to 1`);
  if (sorted.length === 0) return NaN;
  const { below, above, weight } = percentilePlace(sorted.length, q);
  return interpolate(sorted[below] ?? NaN, sorted[above] ?? NaN, weight);
}

/** Index of the first element of an ascending stretch that is >= value; its end when there is none. */
export function firstNotBelow(sorted: ArrayLike<number>, value: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? NaN) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** NaN when there are no values. */
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The 50th percentile of values in any order; NaN when there are none. */
export function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5);
}

/** The order statistics (ranks from 0) between which the q-th percentile of n values lies, and the share of the upper one. */
export function percentilePlace(
  n: number,
  q: number,
): { readonly below: number; readonly above: number; readonly weight: number } {
  const rank = (n - 1) * q;
  const below = Math.floor(rank);
  return { below, above: Math.min(below + 1, n - 1), weight: rank - below };
}

/** The statistics of a distribution; all but n in the unit of the values. */
export interface Summary {
  n: number;
  mean: number;
  /** Standard deviation of the values themselves, divided by n (numpy's default, ddof = 0). NaN with an infinite value. */
  std: number;
  min: number;
  max: number;
  /** Exact percentiles, linear between order statistics. */
  percentiles: Record<PercentileName, number>;
}

/**
 * Statistics of a sample in any order, which is left as it is; `sorted` is the same ascending when the caller has it. Null
 * when it is empty.
 *
 * +Infinity is a value like others (a failed request counted as infinitely slow).
 * @throws RangeError when a value is NaN: a missing value is left out by the caller, never counted.
 */
export function summarize(values: Float64Array, sorted: Float64Array = values.slice().sort()): Summary | null {
  const n = values.length;
  if (n === 0) return null;
  const { mean, min, max } = moments(values);
  const percentiles = {} as Record<PercentileName, number>;
  for (const name of PERCENTILE_NAMES) percentiles[name] = percentile(sorted, PERCENTILES[name]);
  return { n, mean, std: deviation(values, mean), min, max, percentiles };
}

/** Mean (by Neumaier's compensated sum, so that its error does not grow with n) and extremes. */
function moments(values: Float64Array): { mean: number; min: number; max: number } {
  let sum = 0;
  let lost = 0;
  let min = Infinity;
  let max = -Infinity;
  for (const value of values) {
    if (Number.isNaN(value)) throw new RangeError('a value to summarize is NaN');
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { mean: (Number.isFinite(sum) ? sum + lost : sum) / values.length, min, max };
}

/** Second pass over the deviations: the sum of squares alone would cancel. */
function deviation(values: Float64Array, mean: number): number {
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return Math.sqrt(squares / values.length);
}

type Ranked = Float64Array | Uint32Array;

/** Stretches shorter than this are selected from directly, without a sample of them (Floyd and Rivest's figure). */
const SAMPLED_FROM = 600;

/**
 * Puts the values of the given ranks (from 0, ascending, within the array) where a sort would put them, in place and
 * without sorting the rest: faster than a sort for a few ranks of many values. Values are free of NaN.
 */
export function selectRanks(values: Ranked, ranks: readonly number[]): void {
  selectWithin(values, ranks, 0, values.length - 1);
}

/** The middle rank splits the values in two, so that each half is searched for its own ranks only. */
function selectWithin(values: Ranked, ranks: readonly number[], left: number, right: number): void {
  const middle = ranks.length >> 1;
  const rank = ranks[middle];
  if (rank === undefined || left >= right) return;
  select(values, rank, left, right);
  selectWithin(values, ranks.slice(0, middle), left, rank - 1);
  selectWithin(values, ranks.slice(middle + 1), rank + 1, right);
}

/** Floyd and Rivest, "Algorithm 489: SELECT", CACM 18 (3), 1975. */
function select(values: Ranked, k: number, from: number, to: number): void {
  let left = from;
  let right = to;
  while (right > left) {
    if (right - left > SAMPLED_FROM) narrowBySample(values, k, left, right);
    const pivot = values[k] ?? NaN;
    let i = left;
    let j = right;
    while (i <= j) {
      while ((values[i] ?? NaN) < pivot) i++;
      while (pivot < (values[j] ?? NaN)) j--;
      if (i > j) break;
      swap(values, i, j);
      i++;
      j--;
    }
    if (j < k) left = i;
    if (k < i) right = j;
  }
}

/** Selects the rank within a sample around it first, so that the pivot lands close to its place. */
function narrowBySample(values: Ranked, k: number, left: number, right: number): void {
  const n = right - left + 1;
  const i = k - left + 1;
  const z = Math.log(n);
  const s = 0.5 * Math.exp((2 * z) / 3);
  const sd = 0.5 * Math.sqrt((z * s * (n - s)) / n) * Math.sign(i - n / 2);
  const newLeft = Math.max(left, Math.floor(k - (i * s) / n + sd));
  const newRight = Math.min(right, Math.floor(k + ((n - i) * s) / n + sd));
  select(values, k, newLeft, newRight);
}

function swap(values: Ranked, i: number, j: number): void {
  const held = values[i] ?? NaN;
  values[i] = values[j] ?? NaN;
  values[j] = held;
}

/**
 * The indices of the values in ascending order, equal ones in the order of their indices: merge sort from runs that are
 * already in order, so nearly sorted input is fast. Needs 8 bytes per value and allocates no objects.
 */
export function ascendingOrder(values: Float64Array): Uint32Array {
  let order = new Uint32Array(values.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  let scratch = new Uint32Array(values.length);
  let runs = ascendingRuns(values);
  while (runs.length > 2) {
    const merged = [0];
    for (let i = 0; i + 1 < runs.length; i += 2) {
      const [from = 0, middle = 0] = [runs[i], runs[i + 1]];
      const to = runs[i + 2] ?? middle;
      merge(values, order, scratch, from, middle, to);
      merged.push(to);
    }
    runs = merged;
    [order, scratch] = [scratch, order];
  }
  return order;
}

/** Where stretches that ascend begin, and the end of the last. */
function ascendingRuns(values: Float64Array): number[] {
  const starts = [0];
  for (let i = 1; i < values.length; i++) if ((values[i] ?? NaN) < (values[i - 1] ?? NaN)) starts.push(i);
  return [...starts, values.length];
}

/** Merges [from, middle) and [middle, to), both in order. */
function merge(
  values: Float64Array,
  order: Uint32Array,
  merged: Uint32Array,
  from: number,
  middle: number,
  to: number,
): void {
  let left = from;
  let right = middle;
  for (let at = from; at < to; at++) {
    const a = order[left] ?? 0;
    const b = order[right] ?? 0;
    const takesLeft = left < middle && (right >= to || (values[a] ?? NaN) <= (values[b] ?? NaN));
    merged[at] = takesLeft ? a : b;
    if (takesLeft) left++;
    else right++;
  }
}
