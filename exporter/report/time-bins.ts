import { percentile } from '../../core/stats/percentiles.ts';

/** Round widths, in seconds. */
const WIDTHS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const MAX_BINS = 150;
const USUAL_WIDTH = 0.5;
const SHORT_SECONDS = 5;

/** The bins of equal length that the time of a run is divided into. */
export interface TimeBins {
  readonly widthSeconds: number;
  readonly count: number;
  /** The whole time, from the run's start. */
  readonly spanSeconds: number;
}

/**
 * At most 150 bins of a round width; not narrower than half a second unless the whole is short, nor than
 * `leastSeconds`. The last bin takes the remainder: half to one and a half of the width.
 */
export function timeBins(spanSeconds: number, leastSeconds = 0): TimeBins {
  const least = Math.max(leastSeconds, spanSeconds < SHORT_SECONDS ? 0 : USUAL_WIDTH);
  const fitting = WIDTHS.find((width) => width >= least && spanSeconds / width <= MAX_BINS);
  const widthSeconds = fitting ?? Math.ceil(Math.max(least, spanSeconds / MAX_BINS));
  return { widthSeconds, count: Math.max(1, Math.round(spanSeconds / widthSeconds)), spanSeconds };
}

/** Where a bin ends. */
export function binEnd({ widthSeconds, spanSeconds, count }: TimeBins, bin: number): number {
  return bin === count - 1 ? spanSeconds : (bin + 1) * widthSeconds;
}

/** Length of a bin. */
export function binSeconds(bins: TimeBins, bin: number): number {
  return binEnd(bins, bin) - bin * bins.widthSeconds;
}

/** Index of the bin that contains an instant; instants past the end belong to the last. */
export function binOf({ widthSeconds, count }: TimeBins, at_seconds: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor(at_seconds / widthSeconds)));
}

/** A percentile is drawn only if a bin has values on both sides of it. */
const MIN_VALUES = { p50: 1, p90: 10, p99: 100 } as const;

export type BinPercentile = keyof typeof MIN_VALUES;

const QUANTILES: Readonly<Record<BinPercentile, number>> = { p50: 0.5, p90: 0.9, p99: 0.99 };

/** The percentiles of the values of each bin; null where there are too few values (p90 needs 10, p99 needs 100). */
export function binPercentiles(
  bins: TimeBins,
  at_seconds: Float64Array,
  values: Float64Array,
): Record<BinPercentile, (number | null)[]> {
  const groups = Array.from({ length: bins.count }, (): number[] => []);
  at_seconds.forEach((at, i) => {
    const value = values[i] ?? NaN;
    if (Number.isFinite(value)) groups[binOf(bins, at)]?.push(value);
  });
  const sorted = groups.map((group) => Float64Array.from(group).sort());
  const each = (name: BinPercentile): (number | null)[] =>
    sorted.map((group) => (group.length < MIN_VALUES[name] ? null : percentile(group, QUANTILES[name])));
  return { p50: each('p50'), p90: each('p90'), p99: each('p99') };
}
