import type { PercentileSeries } from './percentile-series.ts';

/** What the points of the lines cover and what the intervals promise; empty when it depends on the series. */
export function windowText(series: readonly PercentileSeries[]): string {
  const { source } = series[0] ?? {};
  if (!source || series.some((one) => one.source.kind !== source.kind || one.source.trueCounts !== source.trueCounts)) {
    return '';
  }
  if (source.kind === 'counters') {
    const windows = series.map(({ windowMs }) => windowMs ?? 0).sort((a, b) => a - b);
    const [shortest, longest] = [seconds(windows[0] ?? 0), seconds(windows.at(-1) ?? 0)];
    const span = shortest === longest ? shortest : `${shortest} to ${longest}`;
    const reset = series.some(({ range }) => range?.reset)
      ? ' Counters were reset: what they held just before is lost.'
      : '';
    return `Each point counts the last ${span}. The bounds are certain: they come from differences of raw counters.${reset}`;
  }
  return source.trueCounts
    ? 'The bounds are certain: they come from all that was counted up to the end of the range.'
    : 'From rates: the interval is the bucket that holds the estimate, not a bound. Query the raw _bucket counters for bounds.';
}

function seconds(ms: number): string {
  return ms < 120_000 ? `${ms / 1000} s` : `${Number((ms / 60_000).toFixed(1))} min`;
}
