import type { RequestRecord } from '../run/record.ts';

/** Base units only: a screen may scale, a name says its unit. */
export type Unit = 'seconds' | 'tokens' | 'ratio' | 'requests' | 'requests_per_second' | 'tokens_per_second';

/** Which way is better; `none` when the measure describes the load and is not judged. */
export type Direction = 'lower' | 'higher' | 'none';

/** The instant from which a latency counts: when the request was sent, or when it was due. */
export type Clock = 'sent' | 'due';

interface MeasureFacts {
  readonly measure: string;
  readonly unit: Unit;
  /** The one definition; results that carry another name are never compared with it. */
  readonly definition: string;
  /** The definition in words and symbols, for people. */
  readonly formula: string;
  readonly direction: Direction;
}

/** A measure with values per request (or several, for gaps), summarised as a distribution. */
export interface DistributionMeasure extends MeasureFacts {
  readonly clock: Clock;
  /** The request's values; empty when the request has none (missing is not zero). */
  readonly values: (record: RequestRecord) => readonly number[];
}

/** A measure that is one number for a whole run. */
export type ScalarMeasure = MeasureFacts;

const NS_PER_SECOND = 1e9;
const NONE: readonly number[] = [];

const seconds = (from_ns: number, to_ns: number | null): readonly number[] =>
  to_ns === null ? NONE : [(to_ns - from_ns) / NS_PER_SECOND];

/** (last chunk with content − first) ÷ (output tokens − 1) in seconds; null with fewer than two tokens or no count. */
export function interTokenLatencySeconds(record: RequestRecord): number | null {
  const { first_content_ns: first, last_content_ns: last, output_tokens: tokens } = record;
  if (first === null || last === null || tokens === null || tokens < 2) return null;
  return (last - first) / NS_PER_SECOND / (tokens - 1);
}

const valueOrNone = (value: number | null): readonly number[] => (value === null ? NONE : [value]);

function gaps(record: RequestRecord): readonly number[] {
  const offsets = record.chunk_offsets_ns;
  return offsets.slice(1).map((offset, i) => (offset - (offsets[i] ?? NaN)) / NS_PER_SECOND);
}

function tokensPerSecond(tokens: number | null, durations: readonly number[]): readonly number[] {
  const duration = durations[0];
  return tokens === null || duration === undefined || duration <= 0 ? NONE : [tokens / duration];
}

function latency(
  measure: string,
  definition: string,
  formula: string,
  clock: Clock,
  values: DistributionMeasure['values'],
): DistributionMeasure {
  return { measure, unit: 'seconds', definition, formula, direction: 'lower', clock, values };
}

/**
 * Every measure that has a value per request. Definitions follow DESIGN §6 rule 4; where AIPerf has the measure, its
 * meaning is the same (`inter_token_latency` is what vLLM and SGLang call TPOT).
 */
export const DISTRIBUTION_MEASURES: readonly DistributionMeasure[] = [
  latency(
    'time_to_first_token',
    'sent_to_first_content_chunk',
    'first chunk with content − request sent (reasoning counts; opening a connection is inside)',
    'sent',
    (r) => seconds(r.sent_ns, r.first_content_ns),
  ),
  latency(
    'time_to_first_token',
    'due_to_first_content_chunk',
    'first chunk with content − request due: the wait for a free slot is inside',
    'due',
    (r) => seconds(r.due_ns, r.first_content_ns),
  ),
  latency(
    'time_to_second_token',
    'first_to_second_content_chunk',
    'second chunk with content − first chunk with content',
    'sent',
    (r) => gaps(r).slice(0, 1),
  ),
  latency(
    'inter_token_latency',
    'per_request_mean_from_usage',
    '(last chunk with content − first) ÷ (output tokens − 1), one value per request; tokens from usage',
    'sent',
    (r) => valueOrNone(interTokenLatencySeconds(r)),
  ),
  latency(
    'inter_chunk_latency',
    'gap_between_content_chunks',
    'time between two neighbouring chunks with content, one value per gap',
    'sent',
    gaps,
  ),
  latency('request_latency', 'sent_to_last_content_chunk', 'last chunk with content − request sent', 'sent', (r) =>
    seconds(r.sent_ns, r.last_content_ns),
  ),
  latency('request_latency', 'due_to_last_content_chunk', 'last chunk with content − request due', 'due', (r) =>
    seconds(r.due_ns, r.last_content_ns),
  ),
  latency('schedule_delay', 'due_to_sent', 'request sent − request due', 'due', (r) => seconds(r.due_ns, r.sent_ns)),
  {
    measure: 'input_sequence_length',
    unit: 'tokens',
    definition: 'usage_prompt_tokens',
    formula: 'prompt tokens as the server counted them',
    direction: 'none',
    clock: 'sent',
    values: (r) => valueOrNone(r.input_tokens),
  },
  {
    measure: 'output_sequence_length',
    unit: 'tokens',
    definition: 'usage_completion_tokens',
    formula: 'output tokens as the server counted them, reasoning included',
    direction: 'none',
    clock: 'sent',
    values: (r) => valueOrNone(r.output_tokens),
  },
  {
    measure: 'prefill_throughput_per_user',
    unit: 'tokens_per_second',
    definition: 'input_tokens_over_time_to_first_token',
    formula: 'input tokens ÷ time to first token, per request',
    direction: 'higher',
    clock: 'sent',
    values: (r) => tokensPerSecond(r.input_tokens, seconds(r.sent_ns, r.first_content_ns)),
  },
  {
    measure: 'output_token_throughput_per_user',
    unit: 'tokens_per_second',
    definition: 'inverse_inter_token_latency',
    formula: '1 ÷ inter token latency, per request',
    direction: 'higher',
    clock: 'sent',
    values: (r) => tokensPerSecond(1, valueOrNone(interTokenLatencySeconds(r))),
  },
];

/** Every measure that is one number for the run; DESIGN §6 rules 4 and 5. */
export const SCALAR_MEASURES = {
  request_throughput: {
    measure: 'request_throughput',
    unit: 'requests_per_second',
    definition: 'ok_requests_over_window',
    formula: 'ok requests ÷ (last response − first request)',
    direction: 'higher',
  },
  output_token_throughput: {
    measure: 'output_token_throughput',
    unit: 'tokens_per_second',
    definition: 'ok_output_tokens_over_window',
    formula: 'output tokens of ok requests ÷ (last response − first request)',
    direction: 'higher',
  },
  total_token_throughput: {
    measure: 'total_token_throughput',
    unit: 'tokens_per_second',
    definition: 'ok_input_and_output_tokens_over_window',
    formula: 'input and output tokens of ok requests ÷ (last response − first request)',
    direction: 'higher',
  },
  steady_request_throughput: {
    measure: 'steady_request_throughput',
    unit: 'requests_per_second',
    definition: 'ok_requests_ended_at_full_load_over_time_at_full_load',
    formula: 'ok requests that ended while the load was full ÷ that time',
    direction: 'higher',
  },
  steady_output_token_throughput: {
    measure: 'steady_output_token_throughput',
    unit: 'tokens_per_second',
    definition: 'output_tokens_at_full_load_over_time_at_full_load',
    formula: 'output tokens of ok requests spread over their chunks, counted while the load was full ÷ that time',
    direction: 'higher',
  },
  error_ratio: {
    measure: 'error_ratio',
    unit: 'ratio',
    definition: 'error_and_timeout_over_ok_error_timeout',
    formula: '(error + timeout) ÷ (ok + error + timeout)',
    direction: 'lower',
  },
  cached_input_ratio: {
    measure: 'cached_input_ratio',
    unit: 'ratio',
    definition: 'usage_cached_tokens_over_prompt_tokens',
    formula: 'cached prompt tokens ÷ prompt tokens, over ok requests whose usage tells both',
    direction: 'none',
  },
  effective_concurrency: {
    measure: 'effective_concurrency',
    unit: 'requests',
    definition: 'request_time_over_window',
    formula: 'sum over requests of (end − sent) ÷ (last response − first request)',
    direction: 'none',
  },
} as const satisfies Record<string, ScalarMeasure>;
