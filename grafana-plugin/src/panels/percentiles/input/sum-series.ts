import type { GivenLine } from './given-line.ts';
import type { HistogramSeries } from './histogram-series.ts';

const COMPANION = /_(sum|count)$/;

/** True for the `_sum` and `_count` series of a histogram. */
export function isCompanion({ metric }: GivenLine): boolean {
  return COMPANION.test(metric ?? '');
}

/** Gives raw counters the `_sum` series of the same metric and labels, whichever query it comes from. */
export function withSums(series: HistogramSeries, lines: readonly GivenLine[]): HistogramSeries {
  const sum =
    series.kind === 'counters' && series.metric !== null
      ? lines.find(({ metric, labels }) => metric === `${series.metric}_sum` && sameLabels(labels, series.labels))
      : undefined;
  if (!sum) {
    return series;
  }
  const valueAt = new Map(sum.times.map((time, row) => [time, sum.values[row] ?? NaN]));
  return { ...series, sums: Float64Array.from(series.times, (time) => valueAt.get(time) ?? NaN) };
}

function sameLabels(a: Record<string, string>, b: Record<string, string>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
