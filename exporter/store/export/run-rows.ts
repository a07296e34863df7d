import type { ColumnKind } from '../records/parquet-column.ts';
import { RECORD_COLUMNS } from '../records/record-columns.ts';
import { indexedMeasure, MEASURE_COLUMNS } from '../index/rows.ts';
import type { RunStore } from '../run-store.ts';

export type RowKind = 'requests' | 'measures';

export interface RowColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

export type ExportRow = Readonly<Record<string, unknown>>;

const MEASURE_TEXTS: readonly string[] = [
  'run_id',
  'measure',
  'unit',
  'definition',
  'origin',
  'population',
  'clock',
  'kind',
];

/** The columns of an exported row: `run_id`, then the columns of records/<shard>.parquet, or those of a measure. */
export const ROW_COLUMNS: Readonly<Record<RowKind, readonly RowColumn[]>> = {
  requests: [{ name: 'run_id', kind: 'string' }, ...RECORD_COLUMNS.map(({ name, kind }) => ({ name, kind }))],
  measures: MEASURE_COLUMNS.map((name) => ({ name, kind: MEASURE_TEXTS.includes(name) ? 'string' : 'double' })),
};

/** The rows of runs, run by run. Throws if a run's files cannot be read. */
export async function* runRows(store: RunStore, runIds: readonly string[], kind: RowKind): AsyncGenerator<ExportRow> {
  for (const runId of runIds) {
    if (kind === 'measures') {
      for (const measure of (await store.readResult(runId)).measures) yield { ...indexedMeasure(runId, measure) };
    } else {
      for await (const record of store.readRecords(await store.readRun(runId))) yield { run_id: runId, ...record };
    }
  }
}
