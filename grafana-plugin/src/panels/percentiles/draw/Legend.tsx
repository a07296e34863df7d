import { css, cx } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import type { PercentileLine } from './lines.ts';
import { Swatch } from './Swatch.tsx';
import { estimateText, intervalText, type ValueFormat } from './value-text.ts';

interface Props {
  lines: readonly PercentileLine[];
  hidden: ReadonlySet<string>;
  /** `more` is true when Ctrl or Cmd was held: switch this line only. */
  onToggle: (key: string, more: boolean) => void;
  format: ValueFormat;
}

/** The percentiles of the whole visible range. A click on a name shows that line alone, Ctrl or Cmd adds or takes one. */
export function Legend({ lines, hidden, onToggle, format }: Props) {
  const styles = useStyles2(getStyles);
  const kinds = new Set(lines.map((line) => line.series.source.trueCounts));
  const anyCounts = kinds.has(true);
  const heading = kinds.size === 2 ? 'Interval' : anyCounts ? 'Bounds' : 'Bucket of the estimate';
  return (
    <table className={styles.table} data-testid="percentiles legend">
      <thead>
        <tr>
          <th scope="col">Whole range</th>
          <th scope="col">Estimate</th>
          <th scope="col" title={anyCounts ? 'Every observed value at this percentile lies in here' : undefined}>
            {heading}
          </th>
          {anyCounts && <th scope="col">n</th>}
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => {
          const { range, source } = line.series;
          const percentile = range?.percentiles[line.index];
          const isHidden = hidden.has(line.key);
          return (
            <tr key={line.key} className={cx(isHidden && styles.hidden)}>
              <th scope="row">
                <button
                  type="button"
                  className={styles.name}
                  aria-pressed={!isHidden}
                  onClick={(event) => onToggle(line.key, event.ctrlKey || event.metaKey)}
                >
                  <Swatch line={line} />
                  {line.name}
                </button>
              </th>
              <td>{percentile ? <data value={percentile.estimate}>{estimateText(percentile, format)}</data> : '–'}</td>
              <td>
                {percentile ? (
                  <data value={`${percentile.low} ${percentile.high}`}>
                    {intervalText(percentile, format)}
                    {kinds.size === 2 && !source.trueCounts && ' (bucket of the estimate)'}
                  </data>
                ) : (
                  '–'
                )}
              </td>
              {anyCounts && <td>{range?.n ?? '–'}</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  table: css({
    ...theme.typography.bodySmall,
    fontVariantNumeric: 'tabular-nums',
    width: '100%',
    tr: { height: 24 },
    'th, td': {
      padding: theme.spacing(0, 1),
      textAlign: 'right',
      whiteSpace: 'nowrap',
      borderBottom: `1px solid ${theme.colors.border.weak}`,
    },
    'th:first-child': { textAlign: 'left', width: '100%' },
    th: { fontWeight: theme.typography.fontWeightRegular },
    'thead th': {
      color: theme.colors.primary.text,
      fontWeight: theme.typography.fontWeightMedium,
      position: 'sticky',
      top: 0,
      background: theme.colors.background.primary,
    },
  }),
  name: css({
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    padding: 0,
    border: 'none',
    background: 'none',
    font: 'inherit',
    color: theme.colors.text.primary,
    cursor: 'pointer',
    '&:focus-visible': { outline: `2px solid ${theme.colors.primary.main}`, outlineOffset: 2 },
  }),
  hidden: css({ opacity: 0.45 }),
});
