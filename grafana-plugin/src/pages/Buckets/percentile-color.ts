import type { GrafanaTheme2 } from '@grafana/data';
import type { AdvisedPercentile } from '../../../../core/histogram/bucket-advice.ts';

const COLORS: Record<AdvisedPercentile, string> = { p50: 'green', p90: 'blue', p99: 'purple' };

/** The color of a percentile in all drawings of the page. */
export function percentileColor(percentile: AdvisedPercentile, theme: GrafanaTheme2): string {
  return theme.visualization.getColorByName(COLORS[percentile]);
}
