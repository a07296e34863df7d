import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import { quantity, significant } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { changeRatio, type CompareRow } from './compare-rows.ts';
import type { OverlayRun } from './overlay-runs.ts';

interface Props {
  label: string;
  runs: readonly OverlayRun[];
  rows: readonly CompareRow[];
}

/** A column per run with the difference to the first run. No verdict. */
export function CompareTable({ label, runs, rows }: Props) {
  const styles = useStyles2(getStyles);
  const columns: Array<Column<CompareRow>> = [
    { id: 'name', header: t('overlay.measure', 'Measure'), render: ({ name }) => name },
    ...runs.map(({ letter, color }, i) => ({
      id: letter,
      header: letter,
      align: 'right' as const,
      render: (row: CompareRow) => {
        const change = changeRatio(row, i);
        return (
          <span className={styles.cell}>
            <span className={styles.mark} style={{ background: color }} />
            {quantity(row.values[i], row.unit)}
            {i > 0 && (
              <span className={styles.change}>
                {row.alike ? changeText(change) : t('overlay.other-definition', 'different definition')}
              </span>
            )}
          </span>
        );
      },
    })),
  ];
  return <DataTable label={label} columns={columns} rows={rows} rowKey={({ name }) => name} />;
}

function changeText(ratio: number | null): string {
  if (ratio === null) {
    return '';
  }
  return `${ratio > 0 ? '+' : ratio < 0 ? '−' : '±'}${significant(Math.abs(ratio) * 100)} %`;
}

const getStyles = (theme: GrafanaTheme2) => ({
  cell: css({ display: 'inline-flex', alignItems: 'center', gap: theme.spacing(1) }),
  mark: css({ width: 3, height: 14 }),
  change: css({ color: theme.colors.text.secondary, minWidth: 72, textAlign: 'right' }),
});
