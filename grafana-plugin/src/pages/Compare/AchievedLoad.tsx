import { t } from '@grafana/i18n';
import React from 'react';
import { quantity } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { type LoadRow, loadRows } from './load-rows.ts';
import type { ShownRun } from './shown-runs.ts';

/** The load that the runs achieved, which may differ for equal configurations. */
export function AchievedLoad({ runs }: { runs: readonly ShownRun[] }) {
  const columns: Array<Column<LoadRow>> = [
    {
      id: 'name',
      header: t('comparison.measure', 'Measure'),
      wraps: true,
      render: ({ name, alike }) =>
        alike ? name : t('comparison.other-definition', '{{name}} (different definitions)', { name }),
    },
    ...runs.map(({ mark }, i) => ({
      id: mark,
      header: mark,
      align: 'right' as const,
      render: ({ values, unit }: LoadRow) => quantity(values[i], unit),
    })),
  ];
  const title = t('comparison.load', 'Achieved load');
  return (
    <Section
      title={title}
      description={t('comparison.load-why', 'Measures are comparable only where the achieved load agrees.')}
    >
      <DataTable
        label={title}
        columns={columns}
        rows={loadRows(runs.map(({ answer }) => answer.result))}
        rowKey={({ name }) => name}
      />
    </Section>
  );
}
