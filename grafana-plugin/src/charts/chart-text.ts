import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';

/** The texts of a drawing: values at the axes, and what is written beside them. */
export const chartText = (theme: GrafanaTheme2) => ({
  tick: css({ fill: theme.colors.text.primary, fontSize: 12 }),
  note: css({ fill: theme.colors.text.secondary, fontSize: 11 }),
});
