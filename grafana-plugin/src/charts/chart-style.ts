import type { GrafanaTheme2 } from '@grafana/data';
import { css } from '@emotion/css';

/**
 * After Okabe and Ito, "Color Universal Design": distinguishable with the common kinds of color blindness. Darker on a light
 * background, so that every line has a contrast of at least 3:1.
 */
const ON_DARK = ['#56B4E9', '#E69F00', '#E48BC0', '#35C49A', '#F0E442', '#FF7A45', '#A5B4FF'];
const ON_LIGHT = ['#0072B2', '#B36B00', '#A8447F', '#00805E', '#7A6F00', '#C74600', '#4A55C2'];

export function paletteColor(theme: GrafanaTheme2, index: number): string {
  const palette = theme.isDark ? ON_DARK : ON_LIGHT;
  return palette[index % palette.length] ?? theme.colors.text.primary;
}

/** The texts of a drawing: values at the axes, and what is written beside them. */
export const chartText = (theme: GrafanaTheme2) => ({
  tick: css({ fill: theme.colors.text.primary, fontSize: 12, fontFamily: theme.typography.fontFamily }),
  note: css({ fill: theme.colors.text.secondary, fontSize: 11, fontFamily: theme.typography.fontFamily }),
});

/** Grid lines in the color of Grafana's time series panel. */
export const gridLine = (theme: GrafanaTheme2) => ({
  stroke: theme.isDark ? 'rgba(240, 250, 255, 0.09)' : 'rgba(0, 10, 23, 0.09)',
  strokeWidth: 1,
});
