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
