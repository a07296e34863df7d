import { t } from '@grafana/i18n';
import { Badge } from '@grafana/ui';
import React from 'react';
import { LOAD_TOLERANCE } from '../../../../core/api/verdict.ts';
import { median } from '../../../../core/stats/percentiles.ts';
import { ABSENT, changeText, quantity } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { SETS, type ShownRun } from './shown-runs.ts';
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
    {
      id: 'change',
      header: t('comparison.load-change', 'B against A'),
      align: 'right',
      render: ({ change, differs }) => (
        <>
          {differs && <Badge text={t('comparison.load-differs', 'differs')} color="orange" />}{' '}
          {change === null ? ABSENT : changeText(1 + change)}
        </>
      ),
    },
  ];
  const title = t('comparison.load', 'Achieved load');
  return (
    <Section
      title={title}
      description={t('comparison.load-why', 'Measures are comparable only where the achieved load agrees.')}
    >
      <DataTable label={title} columns={columns} rows={loadRows(runs)} rowKey={({ name }) => name} />
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
  /** Of the median of B against that of A, as a share; null: not comparable. */
  change: number | null;
  /** Whether the load is another one, by the tolerance of the verdict; an outcome, such as errors, is no load. */
  differs: boolean;
}

type Results = ReadonlyArray<ResultFile | null>;
type Figures = Omit<LoadRow, 'change' | 'differs'> & { isLoad?: true };

/** The achieved load, which may differ for equal configurations. */
function loadRows(runs: ReadonlyArray<Pick<ShownRun, 'mark' | 'response'>>): LoadRow[] {
  const results = runs.map(({ response }) => response.result);
  const rows: Figures[] = [
    {
      name: t('comparison.ok-requests', 'Ok requests'),
      unit: 'requests',
      values: results.map((result) => result?.requests.ok ?? null),
      alike: true,
    },
    scalarRow(results, 'request_throughput'),
    { ...scalarRow(results, 'effective_concurrency'), isLoad: true },
    { ...meanRow(results, 'input_sequence_length'), isLoad: true },
    { ...meanRow(results, 'output_sequence_length'), isLoad: true },
    { ...scalarRow(results, 'cached_input_ratio'), isLoad: true },
    scalarRow(results, 'error_ratio'),
  ];
  return rows
    .filter(({ values }) => values.some((value) => value !== null))
    .map(({ isLoad = false, ...row }) => {
      const change = row.alike ? changeOf(row, runs) : null;
      return { ...row, change, differs: isLoad && change !== null && Math.abs(change) > LOAD_TOLERANCE };
    });
}

/** Null where a side has no value, or only 0, of which nothing is a share. */
function changeOf({ values }: Pick<LoadRow, 'values'>, runs: ReadonlyArray<Pick<ShownRun, 'mark'>>): number | null {
  const [a, b] = SETS.map((set) => {
    const ofSet = values.flatMap((value, i) => {
      const isOfSet = runs[i]?.mark.startsWith(set.toUpperCase()) ?? false;
      return isOfSet && value !== null ? [value] : [];
    });
    return ofSet.length === 0 ? null : median(ofSet);
  });
  return a == null || b == null || a === 0 ? null : b / a - 1;
}

function meanRow(results: Results, measure: string): Figures {
  const found = results.map((result) => result && distributionOf(result, measure));
  return {
    name: t('comparison.mean', '{{measure}}, mean', { measure: measureName(measure) }),
    unit: 'tokens',
    values: found.map((one) => one?.mean ?? null),
    alike: sameDefinition(found),
  };
}

function scalarRow(results: Results, measure: string): Figures {
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
