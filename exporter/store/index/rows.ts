import type { MeasureResult } from '../../../core/run/result.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import { orderOf, type OrderedRun } from '../../../core/run/run-id.ts';
import { datasetText } from '../../../core/run/run-dataset.ts';
import type { RunFile, RunStatus } from '../../../core/run/run.ts';

/** Summary of a finished run in the index; all fields except the names are null if its run.json is damaged. */
export interface IndexedRun extends Required<OrderedRun> {
  /** Why its run.json cannot be read; null if it can. */
  readonly damage: string | null;
  readonly end: string | null;
  readonly status: RunStatus | null;
  readonly scenario: string | null;
  readonly model: string | null;
  readonly endpoint_type: string | null;
  readonly load_mode: string | null;
  readonly concurrency: number | null;
  readonly request_rate: number | null;
  /** Mean tokens of a prompt and of the limit of a response, and the dataset in short; null if it is not known. */
  readonly isl: number | null;
  readonly osl: number | null;
  readonly dataset: string | null;
  readonly origin: string | null;
  readonly system: string | null;
  readonly system_version: string | null;
  readonly tool: string | null;
  readonly tool_version: string | null;
  readonly group_id: string | null;
  readonly step: number | null;
  readonly repeat: number | null;
  readonly fingerprint: string | null;
  readonly tags: readonly string[];
  readonly source_sha256: string | null;
  /** Number of its shards that are not in it; null: one machine made it. */
  readonly missing_shards: number | null;
}

/** One measure of one run: `value` of a scalar, the other fields of a distribution; null if not applicable. */
export interface IndexedMeasure extends Readonly<Record<PercentileName, number | null>> {
  readonly run_id: string;
  readonly measure: string;
  readonly unit: string;
  readonly definition: string;
  readonly origin: string;
  readonly population: string;
  readonly clock: string;
  readonly kind: 'scalar' | 'distribution';
  readonly value: number | null;
  readonly n: number | null;
  readonly effective_n: number | null;
  readonly mean: number | null;
  readonly std: number | null;
  readonly min: number | null;
  readonly max: number | null;
}

export type IndexCell = string | number | null;

/** What a column holds; `time`: RFC 3339 in UTC, `texts`: a list. */
export type ColumnContent = 'text' | 'time' | 'texts' | 'integer' | 'number';

export const RUN_COLUMNS = {
  run_id: 'text',
  damage: 'text',
  start: 'time',
  end: 'time',
  status: 'text',
  scenario: 'text',
  model: 'text',
  endpoint_type: 'text',
  load_mode: 'text',
  concurrency: 'integer',
  request_rate: 'number',
  isl: 'number',
  osl: 'number',
  dataset: 'text',
  origin: 'text',
  system: 'text',
  system_version: 'text',
  tool: 'text',
  tool_version: 'text',
  group_id: 'text',
  step: 'integer',
  repeat: 'integer',
  fingerprint: 'text',
  tags: 'texts',
  source_sha256: 'text',
  missing_shards: 'integer',
  imported_at: 'time',
  import_position: 'integer',
} as const satisfies Readonly<Record<keyof IndexedRun, ColumnContent>>;

export const RUN_COLUMN_NAMES = Object.keys(RUN_COLUMNS) as (keyof IndexedRun)[];

export const MEASURE_COLUMNS = {
  run_id: 'text',
  measure: 'text',
  unit: 'text',
  definition: 'text',
  origin: 'text',
  population: 'text',
  clock: 'text',
  kind: 'text',
  value: 'number',
  n: 'integer',
  effective_n: 'number',
  mean: 'number',
  std: 'number',
  min: 'number',
  max: 'number',
  ...(Object.fromEntries(PERCENTILE_NAMES.map((name) => [name, 'number'])) as Record<PercentileName, 'number'>),
} as const satisfies Readonly<Record<keyof IndexedMeasure, ColumnContent>>;

export const MEASURE_COLUMN_NAMES = Object.keys(MEASURE_COLUMNS) as (keyof IndexedMeasure)[];

export function indexedRun(runId: string, run: RunFile): IndexedRun {
  const { comparison_key: key, target, tool, dataset } = run;
  return {
    ...orderOf(run),
    run_id: runId,
    damage: null,
    end: run.end,
    status: run.status,
    scenario: run.scenario,
    model: key.model,
    endpoint_type: key.endpoint_type,
    load_mode: key.load?.mode ?? null,
    concurrency: key.load?.concurrency ?? null,
    request_rate: key.load?.request_rate ?? null,
    isl: dataset?.input_tokens?.mean ?? null,
    osl: dataset?.output_tokens?.mean ?? null,
    dataset: dataset && datasetText(dataset),
    origin: target.origin,
    system: target.system,
    system_version: target.system_version,
    tool: tool.name,
    tool_version: tool.version,
    group_id: run.group_id,
    step: run.step,
    repeat: run.repeat,
    fingerprint: run.fingerprint,
    tags: run.tags,
    source_sha256: run.source?.sha256 ?? null,
    missing_shards: run.shards?.missing.length ?? null,
  };
}

/** A run with only its name known. */
export function damagedRun(runId: string, damage: string): IndexedRun {
  const unknown = Object.fromEntries(RUN_COLUMN_NAMES.map((column) => [column, null])) as unknown as IndexedRun;
  return { ...unknown, run_id: runId, damage, tags: [] };
}

export function indexedMeasure(runId: string, result: MeasureResult): IndexedMeasure {
  const { measure, unit, definition, origin, population, clock, kind } = result;
  const scalar = kind === 'scalar';
  const percentile = (name: PercentileName): number | null => (scalar ? null : result.percentiles[name].value);
  return {
    run_id: runId,
    measure,
    unit,
    definition,
    origin,
    population,
    clock,
    kind,
    value: scalar ? result.value : null,
    n: scalar ? null : result.n,
    effective_n: scalar ? null : result.effective_n,
    mean: scalar ? null : result.mean,
    std: scalar ? null : result.std,
    min: scalar ? null : result.min,
    max: scalar ? null : result.max,
    ...(Object.fromEntries(PERCENTILE_NAMES.map((name) => [name, percentile(name)])) as Record<
      PercentileName,
      number | null
    >),
  };
}
