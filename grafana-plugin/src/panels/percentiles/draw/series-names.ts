import type { HistogramSeries } from '../input/histogram-series.ts';

/**
 * Short names that tell the series apart: the values of the labels that differ between them, with the query's letter
 * or the metric where that differs too. Empty for a series that stands alone.
 */
export function seriesNames(series: readonly HistogramSeries[]): string[] {
  const labelNames = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].sort();
  const differing = labelNames.filter((name) => differs(series, ({ labels }) => labels[name] ?? ''));
  const manyMetrics = differs(series, ({ metric }) => metric ?? '');
  const manyQueries = differs(series, ({ refId }) => refId);
  const names = series.map(({ refId, metric, labels }) => {
    const values = differing.flatMap((name) => {
      const value = labels[name];
      return value === undefined ? [] : [differing.length === 1 ? value : `${name}=${value}`];
    });
    return [manyQueries ? refId : '', manyMetrics ? (metric ?? '') : '', values.join(', ')].filter(Boolean).join(' ');
  });
  return names.map((name, i) => {
    const sameName = names.some((other, j) => j !== i && other === name);
    // The same series with other buckets: its grid has changed in the range.
    return sameName ? `${name} (${series[i]?.bounds.length ?? 0} buckets)`.trim() : name;
  });
}

function differs(series: readonly HistogramSeries[], property: (series: HistogramSeries) => string): boolean {
  return new Set(series.map(property)).size > 1;
}
