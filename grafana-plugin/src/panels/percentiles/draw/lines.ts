import type { Labels, GrafanaTheme2 } from '@grafana/data';
import { paletteColor } from '../../../charts/chart-style.ts';
import type { PercentileSeries } from '../compute/percentile-series.ts';
import { percentileName } from '../compute/percentile.ts';
import type { GivenLine } from '../input/given-line.ts';
import type { HistogramSeries } from '../input/histogram-series.ts';
import { t } from '../../../text.ts';

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
function differingLabels(labels: readonly Labels[]): string[] {
  const names = [...new Set(labels.flatMap((one) => Object.keys(one)))].sort();
  return names.filter((name) => differs(labels, (one) => one[name] ?? ''));
}

function differs<Item>(items: readonly Item[], property: (item: Item) => string): boolean {
  return new Set(items.map(property)).size > 1;
}

/** One percentile of one series, as it is drawn and listed in the legend. */
export interface PercentileLine {
  key: string;
  /** `p99`, or `p99` after the series' name. */
  name: string;
  percentile: string;
  /** Empty for a single series. */
  seriesName: string;
  series: PercentileSeries;
  /** Position in the series' `percentiles`. */
  index: number;
  color: string;
  /** SVG dash pattern; undefined = solid. */
  dash: string | undefined;
}

/**
 * A single series has a color per percentile. Several series have a color each, and their percentiles differ by the
 * dashes of the line: the highest is solid.
 */
export function percentileLines(
  series: readonly PercentileSeries[],
  quantiles: readonly number[],
  theme: GrafanaTheme2
): PercentileLine[] {
  const names = seriesNames(series.map(({ source }) => source));
  const alone = series.length === 1;
  return series.flatMap((one, i) =>
    quantiles.map((quantile, index) => ({
      key: `${i}/${quantile}`,
      name: [names[i], percentileName(quantile)].filter(Boolean).join(' '),
      percentile: percentileName(quantile),
      seriesName: names[i] ?? '',
      series: one,
      index,
      color: paletteColor(theme, alone ? index : i),
      dash: alone ? undefined : [undefined, '7 3', '2 3', '7 3 2 3'][(quantiles.length - 1 - index) % 4],
    }))
  );
}

/** The series of the lines, each once, with the first of its lines. */
export function seriesOf(lines: readonly PercentileLine[]): PercentileLine[] {
  return [...new Map(lines.map((line) => [line.series, line])).values()];
}

/** A ready percentile, as it is drawn and listed in the legend. */
export interface GivenShape {
  key: string;
  name: string;
  line: GivenLine;
  color: string;
}

/**
 * Names and colors of the lines that queries have computed themselves. Beside a single histogram, a line has the color
 * of the same percentile.
 */
export function givenShapes(
  lines: readonly GivenLine[],
  quantiles: readonly number[],
  aloneSeries: boolean,
  theme: GrafanaTheme2
): GivenShape[] {
  const labels = differingLabels(lines.map((line) => line.labels));
  return lines.map((line, i) => {
    const index = line.quantile === null ? -1 : quantiles.indexOf(line.quantile);
    const values = Object.keys(line.labels).flatMap((name) =>
      labels.includes(name) && name !== 'quantile' && name !== 'stat' ? [line.labels[name]] : []
    );
    const percentile = line.quantile === null ? '' : percentileName(line.quantile);
    const words = [line.refId, ...values, percentile].filter(Boolean).join(' ');
    return {
      key: `given/${i}`,
      name: line.quantile === null && line.legend !== '' ? line.legend : words,
      line,
      color: aloneSeries && index >= 0 ? paletteColor(theme, index) : theme.colors.text.primary,
    };
  });
}

/** The value drawn at a time: each sample covers the step that ends with it. Null without a sample. */
export function givenAt({ times, values, stepMs }: GivenLine, timeMs: number): number | null {
  const row = times.length === 1 ? 0 : times.findIndex((time) => time >= timeMs);
  const isInside = times.length === 1 || (times[row] ?? Infinity) - stepMs < timeMs;
  return isInside ? (values[row] ?? null) : null;
}

/** The last value of a line; null when it has none. */
export function lastGiven({ values }: GivenLine): number | null {
  return values.reduce((last, value) => (value !== null && Number.isFinite(value) ? value : last), null);
}
