import type { FirstTokenTime } from '../measures/first-token-time.ts';
import type { Outcome, PhaseName } from '../run/record.ts';
import type { Clock, Unit } from '../run/statistic.ts';
import type { PercentileName } from '../stats/percentiles.ts';

export type Population = 'ok' | 'all';

/** A measure with one value per request, or per gap between chunks. */
export type DistributionName =
  | 'time_to_first_token'
  | 'time_to_first_output_token'
  | 'time_to_second_token'
  | 'inter_token_latency'
  | 'inter_chunk_latency'
  | 'request_latency'
  | 'decode_duration'
  | 'schedule_delay'
  | 'connect_time'
  | 'input_sequence_length'
  | 'output_sequence_length'
  | 'output_token_count'
  | 'reasoning_token_count'
  | 'cached_input_tokens'
  | 'image_token_count'
  | 'audio_token_count'
  | 'image_count'
  | 'image_size'
  | 'audio_duration'
  | 'audio_size'
  | 'request_size'
  | 'output_length_difference_ratio'
  | 'tokens_per_chunk'
  | 'prefill_throughput_per_user'
  | 'output_token_throughput_per_user'
  | 'e2e_output_token_throughput';

/** The empirical distribution function of a measure over one run. */
export interface DistributionView {
  readonly measure: DistributionName;
  readonly unit: Unit;
  readonly definition: string;
  readonly clock: Clock;
  readonly population: Population;
  readonly n: number;
  /** Failed requests among n, above every value. */
  readonly infinite: number;
  readonly shown: number;
  /** Most values strictly between two neighboring points; 0: nothing was left out. */
  readonly between: number;
  /** Ascending, without repetition. */
  readonly values: readonly number[];
  /** How much of n is at most the value beside it. */
  readonly share: readonly number[];
  readonly percentiles: Readonly<Record<PercentileName, number | null>>;
}

/** A server's series over time, for drawing. */
export interface SeriesView {
  readonly target: string;
  /** The name of the samples; of the histogram for `mean`. */
  readonly family: string;
  /** The quantity by which it was requested; null: by its name. */
  readonly quantity: QuantityName | null;
  readonly labels: Readonly<Record<string, string>>;
  /** `mean`: of a histogram's observations since the point before. */
  readonly as: 'value' | 'per_second' | 'mean';
  /** Each point stands for so many scrapes. */
  readonly scrapes_per_point: number;
  /** Since the run's zero. */
  readonly seconds: readonly number[];
  readonly values: readonly (number | null)[];
}

/** The moment from which the seconds inside a run count. */
export interface RunZero {
  /** Its wall time; null when the run has no time of its own. */
  readonly start: string | null;
  /** When the measure phase begins; null when that is not known. */
  readonly measure_seconds: number | null;
}

/** The columns of a request that hold a duration or a count. */
export const REQUEST_MEASURES = [
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
export type RequestMeasure = (typeof REQUEST_MEASURES)[number];

type RequestMoment = 'due_seconds' | 'sent_seconds' | 'first_content_seconds' | 'last_content_seconds' | 'end_seconds';

/** What can be queried of a request; moments are in seconds since the run's zero. */
export interface RequestValues extends Readonly<Record<RequestMeasure | RequestMoment | 'http_status', number | null>> {
  readonly index: number;
  readonly phase: PhaseName;
  readonly outcome: Outcome;
  readonly reason: string | null;
}
export type RequestField = keyof RequestValues;

export interface RequestColumnsView {
  /** What was thinned: of so many requests every so-manieth is shown. */
  readonly sampled: { readonly shown: number; readonly of: number; readonly every: number };
  readonly columns: { readonly [F in RequestField]?: readonly RequestValues[F][] };
}

/** Query parameters of `GET /runs/{run_id}/records`. */
export interface RecordsQuery {
  readonly fields?: readonly RequestField[];
  readonly phase?: readonly PhaseName[];
  readonly outcome?: readonly Outcome[];
  readonly limit?: number;
}

/** `GET /runs/{run_id}/records`. */
export interface RecordsResponse extends RequestColumnsView {
  readonly run_id: string;
  readonly zero: RunZero;
}

/** Query parameters of `GET /runs/{run_id}/distribution`. */
export interface DistributionQuery {
  readonly measure: DistributionName;
  readonly clock?: Clock;
  readonly population?: Population;
  readonly points?: number;
}

/** `GET /runs/{run_id}/distribution`. */
export interface DistributionResponse extends DistributionView {
  readonly run_id: string;
}

/** `GET /runs/{run_id}/first-token-time`. */
export interface FirstTokenTimeResponse {
  readonly run_id: string;
  /** Null: no server observes parts of it, or responses were not streamed. */
  readonly first_token_time: FirstTokenTime | null;
}

/** A quantity that systems expose under different names. */
export type QuantityName =
  | 'time_to_first_token'
  | 'time_per_output_token'
  | 'inter_token_latency'
  | 'request_latency'
  | 'queue_time'
  | 'prefill_time'
  | 'decode_time'
  | 'input_tokens'
  | 'output_tokens'
  | 'cached_input_tokens'
  | 'prompt_tokens_total'
  | 'generation_tokens_total'
  | 'cached_prompt_tokens_total'
  | 'drafts_total'
  | 'draft_tokens_total'
  | 'accepted_draft_tokens_total'
  | 'requests_finished_total'
  | 'requests_running'
  | 'requests_in_flight'
  | 'requests_waiting'
  | 'kv_cache_usage';

/** Query parameters that choose series of servers. */
export interface FamilyQuery {
  readonly family: readonly string[];
  readonly quantity: readonly QuantityName[];
  /** Empty: all. */
  readonly target: readonly string[];
}

/** Query parameters of `GET /runs/{run_id}/series`. */
export interface SeriesQuery extends Partial<FamilyQuery> {
  readonly points?: number;
}

/** `GET /runs/{run_id}/series`. */
export interface SeriesResponse {
  readonly run_id: string;
  readonly zero: RunZero;
  readonly series: readonly SeriesView[];
}
