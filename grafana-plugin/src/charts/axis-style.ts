import type { GrafanaTheme2 } from '@grafana/data';

/** Pixels between an axis and its texts. */
export const TICK_GAP = 8;

/** Grid lines and tick labels, in the sizes and colors of Grafana's time series panel. */
export function axisStyle(theme: GrafanaTheme2) {
  return {
    grid: { stroke: theme.isDark ? 'rgba(240, 250, 255, 0.09)' : 'rgba(0, 10, 23, 0.09)', strokeWidth: 1 },
    text: { fill: theme.colors.text.primary, fontSize: 12, fontFamily: theme.typography.fontFamily },
  };
}
