import type { GrafanaTheme2 } from '@grafana/data';
import type { PercentileSeries } from '../compute/percentile-series.ts';
import { percentileName } from '../percentile-name.ts';
import { paletteColor } from '../../../charts/colors.ts';
import { seriesNames } from './series-names.ts';

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
