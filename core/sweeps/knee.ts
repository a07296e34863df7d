/** The difference must fall by this many mean steps of x below its maximum: Kneedle's S; 1 is the authors' choice. */
export const SENSITIVITY = 1;

/** A point of a curve; x ascending. */
export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/**
 * The place of the knee of a rising curve that flattens, by Kneedle (Satopää, Albrecht, Irwin and Raghavan: Finding a
 * "Kneedle" in a Haystack, ICDCS Workshops 2011), without its smoothing: steps of a sweep are few and means of repeats.
 * Null when the points show none, as on a straight line, or when the curve still rises evenly at its end.
 */
export function kneeOf(points: readonly CurvePoint[]): number | null {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 3) return null;
  const ys = points.map(({ y }) => y);
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  if (!(last.x > first.x) || !(high > low)) return null;
  const above = points.map(({ x, y }) => (y - low) / (high - low) - (x - first.x) / (last.x - first.x));
  const fall = SENSITIVITY / (points.length - 1);
  for (let i = 1; i < above.length - 1; i++) {
    if (isPeak(above, i) && fallsBelow(above, i, at(above, i) - fall)) return i;
  }
  return null;
}

const at = (values: readonly number[], i: number): number => values[i] ?? NaN;

/** Of a plateau its end. */
function isPeak(values: readonly number[], i: number): boolean {
  return at(values, i) >= at(values, i - 1) && at(values, i) > at(values, i + 1);
}

/** Whether it falls below the threshold before it rises again. */
function fallsBelow(values: readonly number[], peak: number, threshold: number): boolean {
  for (let i = peak + 1; i < values.length && at(values, i) <= at(values, i - 1); i++) {
    if (at(values, i) < threshold) return true;
  }
  return false;
}
