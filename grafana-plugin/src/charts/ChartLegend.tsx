import { css, cx } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import type { XySeries } from './xy-series.ts';

interface Props {
  series: readonly XySeries[];
  hidden: ReadonlySet<string>;
  onToggle: (name: string) => void;
}

/** Series names with their colors; a click shows or hides a series. */
export function ChartLegend({ series, hidden, onToggle }: Props) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.legend}>
      {series
        .filter(({ secondary }) => !secondary)
        .map(({ name, color, kind, dashed }) => (
          <button
            key={name}
            type="button"
            className={cx(styles.name, hidden.has(name) && styles.hidden)}
            aria-pressed={!hidden.has(name)}
            onClick={() => onToggle(name)}
          >
            <svg width={16} height={8} aria-hidden="true">
              {kind === 'points' ? (
                <circle cx={8} cy={4} r={3} fill={color} />
              ) : (
                <line
                  x1={0}
                  x2={16}
                  y1={4}
                  y2={4}
                  stroke={color}
                  strokeWidth={3}
                  strokeDasharray={dashed ? '5 3' : ''}
                />
              )}
            </svg>
            {name}
          </button>
        ))}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  legend: css({
    display: 'flex',
    flexWrap: 'wrap',
    gap: theme.spacing(0.5, 1.5),
    padding: theme.spacing(0.5, 0, 0, 1),
  }),
  name: css({
    ...theme.typography.bodySmall,
    display: 'inline-flex',
    alignItems: 'center',
    gap: theme.spacing(0.75),
    background: 'none',
    border: 'none',
    padding: 0,
    color: theme.colors.text.primary,
    overflowWrap: 'anywhere',
    textAlign: 'left',
    '&:focus-visible': { outline: `2px solid ${theme.colors.primary.main}`, outlineOffset: 2 },
  }),
  hidden: css({ textDecoration: 'line-through', color: theme.colors.text.secondary }),
});
