import { t } from '@grafana/i18n';
import React from 'react';
import { quantity } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import type { ShownRun } from './shown-runs.ts';
import type { Unit } from '../../../../core/run/statistic.ts';
import type { ResultFile } from '../../../../core/run/result.ts';
import { distributionOf, scalarOf, measureName } from '../../components/measure-name.ts';

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
        rows={loadRows(runs.map(({ response }) => response.result))}
        rowKey={({ name }) => name}
      />
    </Section>
  );
}

/** A number of each run, side by side. */
interface LoadRow {
  name: string;
  unit: Unit;
  values: Array<number | null>;
  /** All runs with the number use the same definition: only then is it comparable. */
  alike: boolean;
}

type Results = ReadonlyArray<ResultFile | null>;

/** The achieved load, which may differ for equal configurations. */
function loadRows(results: Results): LoadRow[] {
  const rows: LoadRow[] = [
    {
      name: t('comparison.ok-requests', 'Ok requests'),
      unit: 'requests',
      values: results.map((result) => result?.requests.ok ?? null),
      alike: true,
    },
    scalarRow(results, 'request_throughput'),
    scalarRow(results, 'effective_concurrency'),
    meanRow(results, 'input_sequence_length'),
    meanRow(results, 'output_sequence_length'),
    scalarRow(results, 'cached_input_ratio'),
    scalarRow(results, 'error_ratio'),
  ];
  return rows.filter(({ values }) => values.some((value) => value !== null));
}

function meanRow(results: Results, measure: string): LoadRow {
  const found = results.map((result) => result && distributionOf(result, measure));
  return {
    name: t('comparison.mean', '{{measure}}, mean', { measure: measureName(measure) }),
    unit: 'tokens',
    values: found.map((one) => one?.mean ?? null),
    alike: sameDefinition(found),
  };
}

function scalarRow(results: Results, measure: string): LoadRow {
  const found = results.map((result) => result && scalarOf(result, measure));
  return {
    name: measureName(measure),
    unit: found.find((one) => one !== null)?.unit ?? 'ratio',
    values: found.map((one) => one?.value ?? null),
    alike: sameDefinition(found),
  };
}

function sameDefinition(found: ReadonlyArray<{ definition: string } | null>): boolean {
  return new Set(found.flatMap((one) => one?.definition ?? [])).size <= 1;
}
