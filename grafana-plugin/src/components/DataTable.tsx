import { css, cx } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Checkbox, Icon, useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';

export interface Column<Row> {
  id: string;
  header: string;
  /** Definition of the column, in the heading's tooltip. */
  meaning?: string;
  /** Numbers are aligned to the right. */
  align?: 'left' | 'right' | undefined;
  sortable?: boolean;
  /** Texts that may be long take several lines. */
  wraps?: boolean;
  /** Drawn below the heading: the axis of the drawings in the cells. */
  axis?: ReactNode;
  render: (row: Row) => ReactNode;
  /** A column that shares the space of this one: its heading and values are drawn below. */
  below?: Omit<Column<Row>, 'align' | 'axis' | 'below'>;
}

export interface Sort {
  id: string;
  descending: boolean;
}

export interface Selection<Row> {
  chosen: ReadonlySet<string>;
  onToggle: (row: Row) => void;
  /** Of the checkbox; null for a row that cannot be selected. */
  label: (row: Row) => string | null;
}

interface Props<Row> {
  /** Accessible name of the table. */
  label: string;
  columns: ReadonlyArray<Column<Row>>;
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  selection?: Selection<Row>;
  /** New data are loading. */
  stale?: boolean;
}

/** A table with keyboard support: headings sort, checkboxes select rows. */
export function DataTable<Row>({ label, columns, rows, rowKey, sort, onSort, selection, stale = false }: Props<Row>) {
  const styles = useStyles2(getStyles);
  return (
    // A table that is wider than its page scrolls, also from the keyboard.
    <div className={cx(styles.scroll, stale && styles.stale)} tabIndex={0} role="group" aria-label={label}>
      <table className={styles.table} aria-busy={stale}>
        <thead>
          <tr>
            {selection && <td className={styles.box} />}
            {columns.map((column) => (
              <Heading key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = rowKey(row);
            const isChosen = selection?.chosen.has(key) ?? false;
            const checkboxLabel = selection?.label(row) ?? null;
            return (
              <tr key={key} className={cx(isChosen && styles.chosen)}>
                {selection && (
                  <td className={styles.box}>
                    {checkboxLabel !== null && (
                      <Checkbox value={isChosen} onChange={() => selection.onToggle(row)} aria-label={checkboxLabel} />
                    )}
                  </td>
                )}
                {columns.map(({ id, align, wraps, render, below }) => (
                  <td key={id} className={cx(align === 'right' && styles.right, wraps && styles.wraps)}>
                    {render(row)}
                    {below && <div className={styles.below}>{below.render(row)}</div>}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface HeadingProps<Row> {
  column: Column<Row>;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
}

function Heading<Row>({ column, sort, onSort }: HeadingProps<Row>) {
  const styles = useStyles2(getStyles);
  const { align, axis, below } = column;
  const all = below ? [column, below] : [column];
  const isSorted = all.some(({ id }) => id === sort?.id);
  const direction = isSorted ? (sort?.descending ? 'descending' : 'ascending') : 'none';
  return (
    <th
      scope="col"
      className={cx(align === 'right' && styles.right)}
      {...(all.some(({ sortable }) => sortable) && { 'aria-sort': direction })}
    >
      {all.map((one) => (
        <div key={one.id} title={one.meaning}>
          <HeadingText column={{ ...one, align }} sort={sort} onSort={onSort} />
        </div>
      ))}
      {axis}
    </th>
  );
}

/** The name of a column, and the button that orders by it. */
function HeadingText<Row>({ column, sort, onSort }: HeadingProps<Row>) {
  const styles = useStyles2(getStyles);
  const { id, header, align, sortable } = column;
  if (!sortable || !onSort) {
    return header;
  }
  const isSorted = sort?.id === id;
  return (
    <button
      type="button"
      className={styles.heading}
      onClick={() => onSort({ id, descending: isSorted ? !sort.descending : align === 'right' })}
    >
      {header}
      {isSorted && <Icon name={sort.descending ? 'arrow-down' : 'arrow-up'} size="sm" />}
    </button>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  scroll: css({
    overflowX: 'auto',
    containerType: 'inline-size',
    '&:focus-visible': { outline: `2px solid ${theme.colors.primary.main}` },
  }),
  stale: css({ opacity: 0.6 }),
  table: css({
    width: '100%',
    fontSize: theme.typography.bodySmall.fontSize,
    fontVariantNumeric: 'tabular-nums',
    borderCollapse: 'collapse',
    'th, td': {
      padding: theme.spacing(0.5, 1),
      textAlign: 'left',
      whiteSpace: 'nowrap',
      borderBottom: `1px solid ${theme.colors.border.weak}`,
      height: 34,
    },
    // Where a page is narrow, the columns need the space.
    '@container (max-width: 1000px)': {
      'th, td': { paddingLeft: theme.spacing(0.75), paddingRight: theme.spacing(0.75) },
    },
    // Headings take several lines rather than push the last columns out of sight.
    'thead th': {
      color: theme.colors.text.secondary,
      fontWeight: theme.typography.fontWeightMedium,
      whiteSpace: 'normal',
    },
    'tbody tr:hover': { background: theme.colors.action.hover },
  }),
  right: css({ '&&': { textAlign: 'right' } }),
  wraps: css({ '&&': { whiteSpace: 'normal' } }),
  // The space is that between two badges.
  below: css({ color: theme.colors.text.secondary, '&:not(:empty)': { marginTop: 2 } }),
  box: css({ width: 32, '&&': { paddingRight: 0 } }),
  chosen: css({ background: theme.colors.action.selected }),
  heading: css({
    display: 'inline-flex',
    alignItems: 'center',
    gap: theme.spacing(0.25),
    background: 'none',
    border: 'none',
    padding: 0,
    font: 'inherit',
    color: 'inherit',
    '&:hover': { color: theme.colors.text.primary },
    '&:focus-visible': { outline: `2px solid ${theme.colors.primary.main}`, outlineOffset: 2 },
  }),
});
