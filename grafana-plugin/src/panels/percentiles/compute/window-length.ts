const STEPS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 60, 90, 120, 180, 240, 360, 480, 720];

/** A window never takes more than this share of the samples, so that a course over time remains. */
const LARGEST_SHARE = 1 / 6;

/**
 * Chooses over how many steps counts are taken together, from the number of observations in each step. Long enough that
 * (1) a window mostly holds a new scrape, also where the panel's step is shorter than the scrape interval, and (2) it
 * holds about as many observations as the highest percentile needs to differ from the maximum: 100 for p99.
 */
export function automaticWindowSteps(observed: Float64Array, quantiles: readonly number[]): number {
  const busy = [...observed.keys()].filter((i) => (observed[i] ?? 0) > 0);
  const distances = busy.slice(1).map((position, i) => position - (busy[i] ?? position));
  const typical = quantileOf(
    busy.map((i) => observed[i] ?? 0),
    0.5
  );
  if (typical === undefined) {
    return 1;
  }
  const wanted = 1 / (1 - Math.min(0.999, Math.max(0, ...quantiles)));
  const forObservations = (wanted / typical) * (quantileOf(distances, 0.5) ?? 1);
  const needed = Math.max(quantileOf(distances, 0.9) ?? 1, forObservations);
  const largest = Math.max(1, Math.floor(observed.length * LARGEST_SHARE));
  return Math.min(largest, STEPS.find((steps) => steps >= needed - 1e-9) ?? largest);
}

function quantileOf(values: readonly number[], q: number): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(q * (values.length - 1))];
}
