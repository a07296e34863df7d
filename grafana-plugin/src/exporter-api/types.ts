import type { Clock, Unit } from '../../../core/measures/measures.ts';
import type { ErrorReason, PhaseName } from '../../../core/run/record.ts';
import type { RequestCounts } from '../../../core/run/request-counts.ts';
import type { PercentileName, ResultFile, ServerTarget } from '../../../core/run/result.ts';
import type { RunFile, RunStatus } from '../../../core/run/run.ts';

/** The answers of the exporter's HTTP API, as `schemas/openapi.yaml` describes them: base units, RFC 3339, null = unknown. */

export interface StatusAnswer {
  version: string;
  api_version: string;
  runs: { finished: number; running: number; damaged: number };
}

export interface RunPage {
  runs: RunSummary[];
  page: number;
  limit: number;
  /** Runs on all pages. */
  total: number;
}

export interface RunSummary {
  run_id: string;
  status: RunStatus;
  scenario: string;
  model: string;
  endpoint_type: string;
  load: string;
  system: string | null;
  system_version: string | null;
  origin: string | null;
  tool: string;
  tool_version: string;
  fingerprint: string;
  group_id: string | null;
  step: number | null;
  repeat: number | null;
  tags: string[];
  recovered: boolean;
  failure: string | null;
  start: string | null;
  end: string | null;
  duration_seconds: number | null;
  measure_start: string | null;
  measure_end: string | null;
  progress: RunProgress | null;
  numbers: KeyNumbers | null;
}

export interface RunProgress {
  phase: PhaseName | null;
  requests_done: number;
  requests_planned: number | null;
  elapsed_seconds: number | null;
  planned_seconds: number | null;
}

export interface KeyNumbers {
  requests: RequestCounts;
  time_to_first_token_seconds: KeyDistribution | null;
  inter_token_latency_seconds: KeyDistribution | null;
  request_latency_seconds: KeyDistribution | null;
  request_throughput: number | null;
  output_token_throughput: number | null;
  error_ratio: number | null;
  goodput: number | null;
  good_request_ratio: number | null;
  client_verdict: 'ok' | 'saturated' | 'unknown';
  slos: 'met' | 'not_met' | 'undecided' | null;
}

export interface KeyDistribution {
  definition: string;
  /** Null when an imported file does not tell it. */
  n: number | null;
  mean: number | null;
  p50: number | null;
  p90: number | null;
  p99: number | null;
}

export interface RunAnswer {
  summary: RunSummary;
  run: RunFile;
  result: ResultFile | null;
  has_servers: boolean;
}

export type RecordField =
  'phase' | 'outcome' | 'reason' | 'due_seconds' | 'sent_seconds' | 'end_seconds' | RecordMeasure;

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
] as const;
export type RecordMeasure = (typeof RECORD_MEASURES)[number];

/** The moment from which seconds count. */
export interface Zero {
  start: string | null;
  measure_seconds: number | null;
}

export interface RecordsAnswer {
  run_id: string;
  zero: Zero;
  sampled: { shown: number; of: number; every: number };
  columns: Partial<Record<RecordField, Array<number | string | null>>>;
}

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
] as const;
export type DistributionName = (typeof DISTRIBUTIONS)[number];

export interface DistributionAnswer {
  run_id: string;
  measure: string;
  unit: Unit;
  definition: string;
  clock: Clock;
  population: 'ok' | 'all';
  n: number;
  infinite: number;
  shown: number;
  /** Most values strictly between two neighbouring points. */
  between: number;
  values: number[];
  share: number[];
  percentiles: Record<PercentileName, number | null>;
}

/** What several systems have, whatever each one calls its family. */
export type Quantity =
  | 'time_to_first_token'
  | 'time_per_output_token'
  | 'inter_token_latency'
  | 'request_latency'
  | 'queue_time'
  | 'prefill_time'
  | 'prompt_tokens_total'
  | 'cached_prompt_tokens_total'
  | 'generation_tokens_total'
  | 'requests_running'
  | 'requests_in_flight'
  | 'requests_waiting'
  | 'kv_cache_usage';

export interface SeriesAnswer {
  run_id: string;
  zero: Zero;
  series: ServerSeries[];
}

export interface ServerSeries {
  target: string;
  system: string | null;
  family: string;
  quantity: Quantity | null;
  labels: Record<string, string>;
  as: 'value' | 'per_second';
  span_seconds: number | null;
  seconds: number[];
  values: Array<number | null>;
}

/** servers.json, in so far as it is read here. */
export interface ServersAnswer {
  window: { start: string; end: string; seconds: number };
  targets: ServerTarget[];
  series: ServerSummary[];
}

export interface ServerSummary {
  target: string;
  family: string;
  unit: string | null;
  labels: Record<string, string>;
  /** The target on whose page the same series stands too: it is counted there. */
  repeats: string | null;
  statistics: ServerHistogram | { kind: 'counter' | 'gauge' | 'aiperf' } | null;
}

export interface ServerHistogram {
  kind: 'histogram';
  count: number | null;
  sum: number | null;
  mean: number | null;
  resets: number;
  infeasible_sum: boolean;
  /** Cumulative counts with their bounds as the page writes them. */
  buckets: Array<[le: string, count: number]> | null;
}

export interface AnnotationsAnswer {
  total: number;
  annotations: RunAnnotation[];
}

export interface RunAnnotation {
  id: string;
  run_id: string;
  kind: 'run' | 'phase';
  phase: PhaseName | null;
  time: number;
  timeEnd: number | null;
  title: string;
  text: string;
  tags: string[];
}

export const VALUE_NAMES = ['scenarios', 'models', 'systems', 'tools', 'tags', 'statuses', 'groups'] as const;
export type ValueName = (typeof VALUE_NAMES)[number];

export interface ValuesAnswer {
  name: ValueName;
  values: Array<{ value: string; runs: number }>;
}

export interface Problem {
  title: string;
  status: number;
  detail: string;
}

export type ErrorCounts = Partial<Record<ErrorReason, number>>;
