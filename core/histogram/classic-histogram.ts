const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)inf(inity)?$/i;

/**
 * Reads the text of an `le` label: a decimal number or an infinity, in the spellings that Go's `ParseFloat` takes
 * (hexadecimal floats apart). Null when it is none of these, is NaN, or is beyond the range of a float64.
 */
export function parseBound(le: string): number | null {
  const infinite = INFINITE.exec(le);
  if (infinite) return infinite[1] === '-' ? -Infinity : Infinity;
  if (!DECIMAL.test(le)) return null;
  const bound = Number(le);
  return Number.isFinite(bound) ? bound : null;
}

/**
 * One classic Prometheus histogram at one moment, or a difference of two.
 *
 * The three fields mirror `_bucket`, and `_sum`; `_count` is the last element of `counts`, see `total`.
 */
export interface ClassicHistogram {
  /** Upper edges ("le") in strictly ascending order, in the family's unit, normally ending in +Infinity. */
  readonly bounds: readonly number[];
  /** Observations <= the bound of the same index: cumulative. Not whole numbers when made by `rate()`. */
  readonly counts: readonly number[];
  /** Sum of all observed values in the family's unit; null = unknown. */
  readonly sum: number | null;
}

/**
 * Builds a histogram from buckets in any order.
 *
 * As in Prometheus' `histogram_quantile`, the counts of buckets with the same bound ("1" and "1.0") are added, and a
 * bucket whose `le` is no number, or NaN, is omitted: the other buckets are cumulative and stay correct without it.
 */
export function classicHistogram(
  pairs: Iterable<readonly [le: string, count: number]>,
  sum: number | null = null,
): ClassicHistogram {
  const buckets: [bound: number, count: number][] = [];
  for (const [le, count] of pairs) {
    const bound = parseBound(le);
    if (bound !== null) buckets.push([bound, count]);
  }
  return fromBuckets(buckets, sum);
}

/** The same histogram with its bounds in strictly ascending order; counts of equal bounds are added. */
export function inOrder(h: ClassicHistogram): ClassicHistogram {
  if (isAscending(h.bounds)) return h;
  return fromBuckets(
    h.bounds.map((bound, i) => [bound, h.counts[i] ?? NaN]),
    h.sum,
  );
}

function isAscending(bounds: readonly number[]): boolean {
  for (let i = 1; i < bounds.length; i++) if (!((bounds[i] ?? NaN) > (bounds[i - 1] ?? NaN))) return false;
  return true;
}

function fromBuckets(buckets: [bound: number, count: number][], sum: number | null): ClassicHistogram {
  buckets.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const bounds: number[] = [];
  const counts: number[] = [];
  for (const [bound, count] of buckets) {
    const last = bounds.length - 1;
    if (bounds[last] === bound) counts[last] = (counts[last] ?? 0) + count;
    else {
      bounds.push(bound);
      counts.push(count);
    }
  }
  return { bounds, counts, sum };
}

/**
 * Lower edge of a bucket, the value that its observations exceed.
 *
 * The first bucket has none written down: it is 0 when its bound is above 0 (values are assumed to be >= 0, as
 * Prometheus assumes), else -Infinity.
 */
export function lowerEdge(bounds: readonly number[], index: number): number {
  if (index > 0) return bounds[index - 1] ?? NaN;
  return (bounds[0] ?? NaN) > 0 ? 0 : -Infinity;
}

/** Upper edge of a bucket: its bound, the largest value that it can hold. */
export function upperEdge(bounds: readonly number[], index: number): number {
  return bounds[index] ?? NaN;
}

/** Largest relative difference between two bounds that are meant to be the same: noise of their computation. */
const BOUND_TOLERANCE = 1e-9;

/** Whether two bounds are the same edge, up to a relative 1e-9 (0.30000000000000004 and 0.3). */
export function sameBound(a: number, b: number): boolean {
  if (a === b) return true;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= BOUND_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** Whether two grids (bounds in ascending order) have the same edges, each up to a relative 1e-9. */
export function sameGrid(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((bound, i) => sameBound(bound, b[i] ?? NaN));
}

/**
 * Observations in each bucket alone, (previous bound, bound], in the order of the bounds.
 *
 * Plain differences: negative where cumulative counts go down, which `monotonic` repairs.
 */
export function perBucket(h: ClassicHistogram): number[] {
  return h.counts.map((count, i) => (i === 0 ? count : count - (h.counts[i - 1] ?? 0)));
}

/**
 * Number of observations: the count of the +Inf bucket.
 *
 * NaN without a +Inf bucket: the number of observations above the last bound is then unknown.
 */
export function total(h: ClassicHistogram): number {
  if (h.bounds.at(-1) !== Infinity) return NaN;
  return h.counts.at(-1) ?? NaN;
}

/**
 * The histogram of all observations of several histograms.
 *
 * Only like grids are added: null when any two differ, and when there is nothing to add. The sum is null when any of
 * the sums is unknown. The bounds are those of the first histogram.
 */
export function addHistograms(hs: Iterable<ClassicHistogram>): ClassicHistogram | null {
  let result: { bounds: readonly number[]; counts: number[]; sum: number | null } | null = null;
  for (const h of hs) {
    if (result === null) {
      result = { bounds: h.bounds, counts: [...h.counts], sum: h.sum };
      continue;
    }
    if (!sameGrid(result.bounds, h.bounds)) return null;
    for (const [i, count] of h.counts.entries()) result.counts[i] = (result.counts[i] ?? 0) + count;
    result.sum = result.sum === null || h.sum === null ? null : result.sum + h.sum;
  }
  return result;
}

/** What was observed between two scrapes of one series. */
export interface HistogramDelta {
  histogram: ClassicHistogram;
  /** The series was reset in between: the difference is everything counted since then. */
  reset: boolean;
}

/**
 * The observations between two scrapes of one series of one target, `start` first.
 *
 * A reset is one of the whole histogram: when any bucket falls, all of it started at 0 again and the difference is
 * `end`. A sum that falls alone is a negative observation or rounding, no reset. A restart after which every bucket
 * passes its old count is not visible here; a changed start time is. The sum of the difference is null when either sum
 * is unknown. Null when the grids differ: their buckets are never mixed.
 */
export function histogramDelta(start: ClassicHistogram, end: ClassicHistogram): HistogramDelta | null {
  if (!sameGrid(start.bounds, end.bounds)) return null;
  if (fell(start, end)) return { histogram: end, reset: true };
  const counts = end.counts.map((count, i) => count - (start.counts[i] ?? NaN));
  const sum = start.sum === null || end.sum === null ? null : end.sum - start.sum;
  return { histogram: { bounds: end.bounds, counts, sum }, reset: false };
}

function fell(start: ClassicHistogram, end: ClassicHistogram): boolean {
  return end.counts.some((count, i) => count < (start.counts[i] ?? NaN));
}

/**
 * The same observations on another grid, without any error.
 *
 * Possible only when every new bound is a bound of `h` (up to a relative 1e-9): else null, because the observations
 * within a bucket cannot be separated. A new grid without +Infinity loses what lies above its last bound, as any such
 * grid.
 */
export function rebucket(h: ClassicHistogram, bounds: readonly number[]): ClassicHistogram | null {
  const fine = inOrder(h);
  const grid = [...new Set(bounds)].sort((a, b) => (a < b ? -1 : 1));
  const counts: number[] = [];
  for (const bound of grid) {
    const index = fine.bounds.findIndex((candidate) => sameBound(candidate, bound));
    const count = fine.counts[index];
    if (count === undefined) return null;
    counts.push(count);
  }
  return { bounds: grid, counts, sum: h.sum };
}

/**
 * Histograms of the same quantity on one grid, without any error: with the bounds of all, except those inside a bucket of one
 * of them that is not empty, whose observations they would divide. An empty bucket can be divided anywhere: of native
 * histograms the bounds of the empty ones are often not known. Bounds ascend and end in +Infinity.
 */
export function onJointGrid(histograms: readonly ClassicHistogram[]): ClassicHistogram[] {
  const bounds = new Set(histograms.flatMap((histogram) => histogram.bounds));
  for (const histogram of histograms) {
    for (const [i, count] of perBucket(histogram).entries()) {
      if (count === 0) continue;
      const [low, high] = [lowerEdge(histogram.bounds, i), upperEdge(histogram.bounds, i)];
      for (const bound of bounds) if (low < bound && bound < high) bounds.delete(bound);
    }
  }
  const grid = [...bounds].sort((a, b) => a - b);
  return histograms.map((histogram) => ({ bounds: grid, counts: countsAt(histogram, grid), sum: histogram.sum }));
}

/** Cumulative counts at bounds that lie in no bucket with observations. */
function countsAt({ bounds, counts }: ClassicHistogram, grid: readonly number[]): number[] {
  let next = 0;
  return grid.map((bound) => {
    while (next < bounds.length && (bounds[next] ?? NaN) <= bound) next += 1;
    return next === 0 ? 0 : (counts[next - 1] ?? NaN);
  });
}
