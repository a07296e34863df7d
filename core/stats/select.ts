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
