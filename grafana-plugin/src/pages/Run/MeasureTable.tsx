import React from 'react';
import { currencyOf } from '../../../../core/measures/energy-results.ts';
import { moneyText, ABSENT, quantity, quantityRange } from '../../../../core/text/quantities.ts';
import type { DistributionResult, MeasureResult, ResultFile, ScalarResult } from '../../../../core/run/result.ts';
import type { PercentileName } from '../../../../core/stats/percentiles.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { LabeledSwitch } from '../../components/LabeledSwitch.tsx';
import { Section } from '../../components/Section.tsx';
import { measureName } from '../../components/measure-name.ts';
import { t } from '../../text.ts';

const SHOWN: readonly PercentileName[] = ['p50', 'p90', 'p99', 'p99_9'];

/** Every measure of the client with its statistics; the second set counts failed requests as infinitely slow. */
export function MeasureTable({ result }: { result: ResultFile }) {
  const address = useAddress();
  const withAll = address.one('population') === 'all';
  const rows = result.measures.filter(
    (one) => one.origin === 'client' && (one.kind === 'scalar' || one.population === (withAll ? 'all' : 'ok'))
  );
  return (
    <Section
      title={t('measures.title', 'Measures')}
      actions={
        <LabeledSwitch
          label={t('measures.all', 'Count failed requests as infinitely slow')}
          value={withAll}
          onChange={(value) => address.set({ population: value ? 'all' : null })}
        />
      }
    >
      <DataTable
        label={t('measures.table', 'Measures')}
        columns={columns()}
        rows={rows.filter(hasValue)}
        rowKey={({ measure, clock, population, kind }) => [measure, clock, population, kind].join(' ')}
      />
    </Section>
  );
}

function columns(): Array<Column<MeasureResult>> {
  const statistic = (id: string, header: string, read: (one: DistributionResult) => number | null) => ({
    id,
    header,
    align: 'right' as const,
    render: (one: MeasureResult) => (one.kind === 'distribution' ? quantity(read(one), one.unit) : ''),
  });
  return [
    {
      id: 'measure',
      header: t('measures.measure', 'Measure'),
      render: ({ measure, clock, definition }) => <span title={definition}>{measureName(measure, clock)}</span>,
    },
    {
      id: 'n',
      header: 'n',
      align: 'right',
      render: (one) => (one.kind === 'distribution' ? (one.n?.toLocaleString('en-US') ?? ABSENT) : ''),
    },
    {
      id: 'mean',
      header: t('measures.mean', 'Mean or value'),
      align: 'right',
      render: (one) => (one.kind === 'scalar' ? scalarText(one) : quantity(one.mean, one.unit)),
    },
    ...SHOWN.map((name) => ({
      ...statistic(name, name.replace('_', '.'), ({ percentiles }) => percentiles[name].value),
      ...(name === 'p99' && { below: interval() }),
    })),
    statistic('max', t('measures.max', 'Max'), ({ max }) => max),
  ];
}

/** Money has the currency that the definition names. */
function scalarText(one: ScalarResult): string {
  return one.unit === 'cost_per_million_tokens' && one.value !== null
    ? moneyText(one.value, currencyOf(one))
    : quantity(one.value, one.unit);
}

/** The interval of the p99, below it: a column of its own does not fit on narrow pages. */
function interval(): Column<MeasureResult>['below'] {
  return {
    id: 'ci95',
    header: t('measures.ci95', '95 % interval'),
    meaning: t('measures.ci95-meaning', 'Sampling uncertainty within this run (moving-block bootstrap)'),
    render: (one) => {
      const ci95 = one.kind === 'distribution' ? one.percentiles.p99.ci95 : null;
      return ci95 ? quantityRange(ci95, one.unit) : '';
    },
  };
}

function hasValue(one: MeasureResult): boolean {
  return one.kind === 'scalar' ? one.value !== null : one.n !== 0;
}
