import type { Sweep } from '../../../core/sweeps/sweep-shape.ts';
import type { components, operations } from './openapi.ts';

/**
 * Names for the generated types of the exporter's HTTP API. `schemas/openapi.yaml` documents their members: base units,
 * RFC 3339 timestamps, null for an unknown value.
 */
type Schemas = components['schemas'];
type Query<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

export type StatusResponse = Schemas['Status'];
export type RunPage = Schemas['RunPage'];
export type RunSummary = Schemas['RunSummary'];
export type RunProgress = Schemas['Progress'];
export type KeyNumbers = Schemas['KeyNumbers'];
export type KeyDistribution = NonNullable<Schemas['KeyDistribution']>;
export type RunResponse = Schemas['Run'];
export type RecordsResponse = Schemas['Records'];
export type RecordField = Schemas['RecordField'];
export type DistributionResponse = Schemas['Distribution'];
export type DistributionName = Schemas['DistributionMeasure'];
export type SeriesResponse = Schemas['ServerSeries'];
export type ServerSeries = SeriesResponse['series'][number];
export type Quantity = Schemas['Quantity'];
export type ServersResponse = Schemas['ServersFile'];
export type ServerSummary = ServersResponse['series'][number];
export type ServerHistogram = Extract<ServerSummary['statistics'], { kind: 'histogram' }>;
export type ScenarioPage = Schemas['ScenarioPage'];
export type ScenarioSummary = Schemas['ScenarioSummary'];
export type OpenRegression = NonNullable<ScenarioSummary['open_regression']>;
export type ScenarioResponse = Schemas['Scenario'];
export type SweepPage = Schemas['SweepPage'];
export type SweepSummary = Schemas['SweepSummary'];
/** The core draws it: its types are narrower than those of the description. */
export type SweepResponse = Sweep & Pick<Schemas['Sweep'], 'sweep_id'>;
export type BaselineChange = Schemas['BaselineChange'];
export type BaselineAction = BaselineChange['action'];
export type ChangedBaseline = Schemas['ChangedBaseline'];
export type AnnotationsResponse = Schemas['Annotations'];
export type RunAnnotation = AnnotationsResponse['annotations'][number];
export type ValuesResponse = Schemas['Values'];
export type ValueName = Schemas['ValueName'];
export type CompareResponse = Schemas['Comparison'];
export type MeasureVerdict = CompareResponse['measures'][number];
export type VerdictName = MeasureVerdict['verdict'];
export type Reason = MeasureVerdict['reason'];
export type Needs = NonNullable<CompareResponse['needs']>;
export type PreflightFinding = CompareResponse['preflight'][number];
export type Explanation = NonNullable<CompareResponse['explanation']>;
export type MovedSignal = Explanation['signals'][number];
export type VerdictEntry = ScenarioResponse['verdicts'][number];
export type Problem = Schemas['Problem'];

export type RunsQuery = Query<'listRuns'>;
export type RecordsQuery = Query<'getRunRecords'>;
export type DistributionQuery = Query<'getRunDistribution'>;
export type SeriesQuery = Query<'getRunSeries'>;
export type ScenariosQuery = Query<'listScenarios'>;
export type ScenarioQuery = Query<'getScenario'>;
export type SweepsQuery = Query<'listSweeps'>;
export type CompareQuery = Query<'compareRuns'>;
export type AnnotationsQuery = Query<'listAnnotations'>;
export type ValuesQuery = Query<'listValues'>;

/** The columns of a request that hold a duration or a count. */
export const RECORD_MEASURES = [
  'time_to_first_token_seconds',
  'time_to_first_token_from_due_seconds',
  'inter_token_latency_seconds',
  'request_latency_seconds',
  'request_latency_from_due_seconds',
  'schedule_delay_seconds',
  'connect_seconds',
  'input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cached_tokens',
  'chunks',
] as const satisfies readonly RecordField[];
export type RecordMeasure = (typeof RECORD_MEASURES)[number];

export const DISTRIBUTIONS = [
  'time_to_first_token',
  'time_to_second_token',
  'inter_token_latency',
  'inter_chunk_latency',
  'request_latency',
  'decode_duration',
  'schedule_delay',
  'connect_time',
  'input_sequence_length',
  'output_sequence_length',
  'output_token_count',
  'reasoning_token_count',
  'tokens_per_chunk',
  'prefill_throughput_per_user',
  'output_token_throughput_per_user',
  'e2e_output_token_throughput',
] as const satisfies readonly DistributionName[];

export const VALUE_NAMES = [
  'scenarios',
  'models',
  'systems',
  'tools',
  'tags',
  'statuses',
  'groups',
] as const satisfies readonly ValueName[];
