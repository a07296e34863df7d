import { css, cx } from '@emotion/css';
import { dateTimeFormat, type Field, type GrafanaTheme2 } from '@grafana/data';
import type { TimeZone } from '@grafana/schema';
import { Icon, useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import { GivenSwatch, Swatch } from './Swatch.tsx';
import { lastGiven, type GivenShape, type PercentileLine } from './lines.ts';
import { estimateText, intervalText, type ValueFormat } from './value-text.ts';
import { t } from '../../../text.ts';

interface Props {
  lines: readonly PercentileLine[];
  given: readonly GivenShape[];
  hidden: ReadonlySet<string>;
  /** Start of the time range in milliseconds since 1970. */
  fromMs: number;
  timeZone: TimeZone;
  /** `more` is true when Ctrl or Cmd was held: switch this line only. */
  onToggle: (key: string, more: boolean) => void;
  format: ValueFormat;
}

/** The percentiles of the whole visible range. A click on a name shows that line alone, Ctrl or Cmd adds or takes one. */
export function Legend({ lines, given, hidden, fromMs, timeZone, onToggle, format }: Props) {
  const styles = useStyles2(getStyles);
  const kinds = new Set(lines.map((line) => line.series.source.trueCounts));
  const anyCounts = kinds.has(true);
  const bucketOfEstimate = t('panel.legend.bucket', 'Bucket of the estimate');
  const both = t('panel.legend.interval', 'Interval');
  const heading = kinds.size === 2 ? both : anyCounts ? t('panel.legend.bounds', 'Bounds') : bucketOfEstimate;
  const name = (key: string, text: string, swatch: ReactNode, field: Field) => (
    <th scope="row">
      <span className={styles.nameCell}>
        <button
          type="button"
          className={styles.name}
          aria-pressed={!hidden.has(key)}
          onClick={(event) => onToggle(key, event.ctrlKey || event.metaKey)}
        >
          {swatch}
          {text}
        </button>
        <Links field={field} />
      </span>
    </th>
  );
  return (
    <table className={styles.table} data-testid="percentiles legend">
      <thead>
        <tr>
          <th scope="col">{t('panel.legend.range', 'Whole range')}</th>
          <th scope="col">{t('panel.legend.estimate', 'Estimate')}</th>
          <th
            scope="col"
            title={
              anyCounts
                ? t('panel.legend.bounds-meaning', 'The percentile is certain to lie in this interval')
                : undefined
            }
          >
            {heading}
          </th>
          {anyCounts && <th scope="col">n</th>}
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => {
          const { range, source } = line.series;
          const percentile = range?.percentiles[line.index];
          return (
            <tr key={line.key} className={cx(hidden.has(line.key) && styles.hidden)}>
              {name(line.key, line.name, <Swatch line={line} />, source.field)}
              <td>{percentile ? <data value={percentile.estimate}>{estimateText(percentile, format)}</data> : '–'}</td>
              <td>
                {percentile ? (
                  <data value={`${percentile.low} ${percentile.high}`}>
                    {intervalText(percentile, format)}
                    {kinds.size === 2 && !source.trueCounts && ` (${bucketOfEstimate.toLowerCase()})`}
                  </data>
                ) : (
                  '–'
                )}
              </td>
              {anyCounts && (
                <td>
                  {range?.n?.toLocaleString('en-US') ?? '–'}
                  {isPart(line, fromMs) &&
                    ` ${t('panel.legend.since', 'since {{time}}', {
                      time: dateTimeFormat(line.series.lateMs ?? 0, { timeZone, format: 'HH:mm:ss' }),
                    })}`}
                </td>
              )}
            </tr>
          );
        })}
        {given.map((shape) => {
          const value = lastGiven(shape.line);
          return (
            <tr key={shape.key} className={cx(hidden.has(shape.key) && styles.hidden)}>
              {name(shape.key, shape.name, <GivenSwatch color={shape.color} />, shape.line.field)}
              <td>{value === null ? '–' : <data value={value}>{format(value)}</data>}</td>
              <td>
                {shape.line.exact
                  ? t('panel.legend.exact', 'exact')
                  : t('panel.legend.as-queried', 'as queried, last value')}
              </td>
              {anyCounts && <td>–</td>}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Whether observations between the start of the time range and the first sample were not counted. */
function isPart({ series: { lateMs, source } }: PercentileLine, fromMs: number): boolean {
  return lateMs !== null && lateMs - fromMs > 2 * source.stepMs;
}

/** The data links of the field options. */
function Links({ field }: { field: Field }) {
  if (!field.config.links?.length) {
    return null;
  }
  return field.getLinks?.({}).map(({ href, title, target, onClick }) => (
    <a key={`${href}${title}`} href={href} target={target} title={title} aria-label={title} onClick={onClick}>
      <Icon name="external-link-alt" size="sm" />
    </a>
  ));
}

const getStyles = (theme: GrafanaTheme2) => ({
  table: css({
    ...theme.typography.bodySmall,
    fontVariantNumeric: 'tabular-nums',
    width: '100%',
    tr: { height: 24 },
    'th, td': {
      padding: theme.spacing(0, 0.75),
      textAlign: 'right',
      whiteSpace: 'nowrap',
      borderBottom: `1px solid ${theme.colors.border.weak}`,
    },
    // Long names wrap, so that the numbers keep their place in a narrow panel, but not within "p99.9".
    'th:first-child': {
      textAlign: 'left',
      width: '100%',
      minWidth: theme.spacing(9.5),
      whiteSpace: 'normal',
      overflowWrap: 'anywhere',
    },
    th: { fontWeight: theme.typography.fontWeightRegular },
    'thead th': {
      color: theme.colors.primary.text,
      fontWeight: theme.typography.fontWeightMedium,
      position: 'sticky',
      top: 0,
      background: theme.colors.background.primary,
    },
  }),
  nameCell: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(1) }),
  name: css({
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    padding: 0,
    border: 'none',
    background: 'none',
    font: 'inherit',
    textAlign: 'left',
    color: theme.colors.text.primary,
    cursor: 'pointer',
    '&:focus-visible': { outline: `2px solid ${theme.colors.primary.main}`, outlineOffset: 2 },
  }),
  hidden: css({ opacity: 0.45 }),
});

/**
 * The hidden lines after a click in the legend, as Grafana's panels do it: a click shows that line alone, a click on the
 * only visible line shows all again; with Ctrl or Cmd (`more`) it switches that line only.
 */
export function toggled(hidden: ReadonlySet<string>, keys: readonly string[], key: string, more: boolean): Set<string> {
  if (more) {
    const next = new Set(hidden);
    if (!next.delete(key)) {
      next.add(key);
    }
    return next;
  }
  const visible = keys.filter((other) => !hidden.has(other));
  return visible.length === 1 && visible[0] === key ? new Set() : new Set(keys.filter((other) => other !== key));
}
