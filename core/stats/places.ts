/** Every so many of the sorted values stand in a short list that stays in the processor's cache. */
const STRIDE = 256;

/** Where each value is among the same values sorted; equal values are at the place of their first. */
export function placesOf(values: Float64Array, sorted: Float64Array): Uint32Array {
  const marks = new Float64Array(Math.ceil(sorted.length / STRIDE));
  for (let i = 0; i < marks.length; i++) marks[i] = sorted[i * STRIDE] ?? NaN;
  const places = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? NaN;
    const mark = firstNotBelow(marks, value, 0, marks.length);
    const from = mark === 0 ? 0 : (mark - 1) * STRIDE + 1;
    places[i] = firstNotBelow(sorted, value, from, Math.min(mark * STRIDE, sorted.length));
  }
  return places;
}

/** Index of the first element of an ascending stretch that is >= value; its end when there is none. */
export function firstNotBelow(sorted: Float64Array, value: number, from = 0, to = sorted.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? NaN) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
