import React from 'react';
import type { Unit } from '../../../../core/run/statistic.ts';
import { changeText, ABSENT, quantity, significant } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import type { Explanation, MovedSignal } from '../../../../core/api/comparison.ts';
import { t } from '../../text.ts';

/** The servers' signals that moved in the same runs as the measures. */
export function MovedSignals({ explanation }: { explanation: Explanation }) {
  const title = t('moved.title', 'Server signals that moved with it');
  return (
    <Section title={title} description={descriptionOf(explanation)}>
      {explanation.signals.length > 0 && (
        <DataTable
          label={title}
          columns={columns()}
          rows={explanation.signals}
          rowKey={({ signal, family_a, family_b }) => [signal, family_a, family_b].join(' ')}
        />
      )}
    </Section>
  );
}

function descriptionOf({ signals, compared, runs, not_used }: Explanation): string {
  const unused =
    not_used.length === 0
      ? []
      : [t('moved.not-used', 'Runs without exact server metrics, not used: {{runs}}.', { runs: not_used.length })];
  if (runs.a === 0 || runs.b === 0) {
    return [t('moved.no-runs', 'Not available: a set has no run with exact server metrics.'), ...unused].join(' ');
  }
  const found =
    signals.length === 0
      ? t('moved.none', 'None moved clearly.')
      : t('moved.why', 'They changed in the same runs as the measures. This does not show the cause.');
  const of = t('moved.compared', 'Compared: {{compared}} signals in {{runs}} runs.', {
    compared,
    runs: runs.a + runs.b,
  });
  return [found, of, ...unused].join(' ');
}

function columns(): Array<Column<MovedSignal>> {
  return [
    {
      id: 'signal',
      header: t('moved.signal', 'Signal'),
      wraps: true,
      render: ({ title }) => title,
      below: { id: 'family', header: t('moved.family', 'Metric family'), render: ({ family_b: family }) => family },
    },
    {
      id: 'a',
      header: t('comparison.a', 'A'),
      meaning: t('comparison.median', 'Median over the runs of the set'),
      align: 'right',
      render: ({ median_a: value, unit }) => signalText(value, unit),
    },
    {
      id: 'b',
      header: t('comparison.b', 'B'),
      meaning: t('comparison.median', 'Median over the runs of the set'),
      align: 'right',
      render: ({ median_b: value, unit }) => signalText(value, unit),
    },
    {
      id: 'change',
      header: t('moved.change', 'Change'),
      align: 'right',
      render: ({ ratio }) => (ratio === null ? ABSENT : changeText(ratio)),
    },
    {
      id: 'q',
      header: 'q',
      meaning: t('moved.q', 'Share of chance findings among signals with this value or a smaller one'),
      align: 'right',
      render: ({ q }) => (q < 0.001 ? '< 0.001' : q.toPrecision(2)),
    },
    {
      id: 'with',
      header: t('moved.with', 'Moved with'),
      wraps: true,
      render: ({ moved_with: measures }) => measures.join(', '),
    },
    { id: 'look', header: t('moved.look', 'Look at'), wraps: true, render: ({ look_at }) => look_at },
  ];
}

function signalText(value: number, unit: string): string {
  switch (unit) {
    case 'hertz':
      return `${significant(value / 1e6)} MHz`;
    case 'watts':
      return `${significant(value)} W`;
    default:
      return quantity(value, unit as Unit);
  }
}
