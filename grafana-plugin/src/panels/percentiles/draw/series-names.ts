import type { Labels } from '@grafana/data';
import { t } from '@grafana/i18n';
import type { HistogramSeries } from '../input/histogram-series.ts';

/**
 * Short names that distinguish the series: the field option "Display name", else the values of the labels that differ
 * between them, with the query's letter or the metric where that differs too. Empty for a single series.
 */
export function seriesNames(series: readonly HistogramSeries[]): string[] {
  const differing = differingLabels(series.map(({ labels }) => labels));
  const manyMetrics = differs(series, ({ metric }) => metric ?? '');
  const manyQueries = differs(series, ({ refId }) => refId);
  const names = series.map(({ refId, metric, labels, field }) => {
    if (field.config.displayName) {
      return field.config.displayName;
    }
    const values = differing.flatMap((name) => {
      const value = labels[name];
      return value === undefined ? [] : [differing.length === 1 ? value : `${name}=${value}`];
    });
    return [manyQueries ? refId : '', manyMetrics ? (metric ?? '') : '', values.join(', ')].filter(Boolean).join(' ');
  });
  return names.map((name, i) => {
    const sameName = names.some((other, j) => j !== i && other === name);
    // The same series with other buckets: its grid has changed in the range.
    const buckets = t('panel.series.buckets', '({{buckets}} buckets)', { buckets: series[i]?.bounds.length ?? 0 });
    return sameName ? `${name} ${buckets}`.trim() : name;
  });
}

/** The labels that do not have the same value everywhere, in alphabetical order. */
export function differingLabels(labels: readonly Labels[]): string[] {
  const names = [...new Set(labels.flatMap((one) => Object.keys(one)))].sort();
  return names.filter((name) => differs(labels, (one) => one[name] ?? ''));
}

function differs<Item>(items: readonly Item[], property: (item: Item) => string): boolean {
  return new Set(items.map(property)).size > 1;
}
