import type { GrafanaTheme2 } from '@grafana/data';
import type { GivenLine } from '../input/given-line.ts';
import { percentileName } from '../percentile-name.ts';
import { paletteColor } from '../../../charts/colors.ts';
import { differingLabels } from './series-names.ts';

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
