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
