import { Badge } from '@grafana/ui';
import React from 'react';
import { LOAD_TOLERANCE } from '../../../../core/api/verdict.ts';
import { median } from '../../../../core/stats/percentiles.ts';
import { ABSENT, changeText, quantity } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { SETS, type ShownRun } from './shown-runs.ts';
import type { Unit } from '../../../../core/run/statistic.ts';
import type { DistributionResult, ResultFile } from '../../../../core/run/result.ts';
import { distributionOf, scalarOf, measureName } from '../../components/measure-name.ts';
import { t } from '../../text.ts';

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

/** The tool of windows that were imported from a Prometheus. */
const RECORDED_BY = 'prometheus';

/** A number of each run, side by side. */
interface LoadRow {
  name: string;
  unit: Unit;
  values: Array<number | null>;
  /** All runs with the number use the same definition: only then is it comparable. */
  alike: boolean;
  /** Of the median of B against that of A, as a share; null: not comparable. */
  change: number | null;
  /** Whether a planned load is another one, by the tolerance of the verdict; an outcome, such as errors, is no load. */
  differs: boolean;
}

type Results = ReadonlyArray<ResultFile | null>;
type Figures = Omit<LoadRow, 'change' | 'differs'> & { isLoad?: true };

/** The achieved load, which may differ for equal configurations. */
export function loadRows(runs: ReadonlyArray<Pick<ShownRun, 'mark' | 'response'>>): LoadRow[] {
  const results = runs.map(({ response }) => response.result);
  // What servers recorded of their users differs by chance; by how much it may is for the verdict to say.
  const isPlanned = runs.some(({ response }) => response.run.tool.name !== RECORDED_BY);
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
      const differs = isLoad && isPlanned && change !== null && Math.abs(change) > LOAD_TOLERANCE;
      return { ...row, change, differs };
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
  const found = results.map((result) => result && (distributionOf(result, measure) ?? ofServers(result, measure)));
  return {
    name: t('comparison.mean', '{{measure}}, mean', { measure: measureName(measure) }),
    unit: 'tokens',
    values: found.map((one) => one?.mean ?? null),
    alike: sameDefinition(found),
  };
}

function scalarRow(results: Results, measure: string): Figures {
  const found = results.map((result) => result && (scalarOf(result, measure) ?? scalarOf(result, measure, 'server')));
  return {
    name: measureName(measure),
    unit: found.find((one) => one !== null)?.unit ?? 'ratio',
    values: found.map((one) => one?.value ?? null),
    alike: sameDefinition(found),
  };
}

/** Where no client measured. */
const ofServers = ({ measures }: ResultFile, measure: string): DistributionResult | null =>
  measures.find(
    (one): one is DistributionResult =>
      one.kind === 'distribution' && one.origin === 'server' && one.measure === measure
  ) ?? null;

function sameDefinition(found: ReadonlyArray<{ definition: string } | null>): boolean {
  return new Set(found.flatMap((one) => one?.definition ?? [])).size <= 1;
}
