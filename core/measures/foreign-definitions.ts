import { ownValue } from '../text/nearest-names.ts';
import { DISTRIBUTION_MEASURES } from './measures.ts';
import type { Direction } from './measures.ts';
import type { Unit } from '../run/statistic.ts';
import { SCALAR_MEASURES } from './scalar-measures.ts';

/** A definition of another tool: the same word, another number. Results that carry it are compared with their like only. */
export interface ForeignDefinition {
  readonly measure: string;
  readonly definition: string;
  readonly formula: string;
}

const foreign = (measure: string, definition: string, formula: string): ForeignDefinition => ({
  measure,
  definition,
  formula,
});

/**
 * The definition that takes the place of ours when the tokens were counted by a tokenizer of the client, not by the
 * server. Both directions of a count are distinguished by the measure that it belongs to.
 */
export const TOKENIZER_DEFINITIONS: Readonly<Record<string, string>> = {
  usage_prompt_tokens: 'tokenizer_prompt_tokens',
  usage_completion_tokens: 'tokenizer_completion_tokens',
  usage_completion_minus_reasoning_tokens: 'tokenizer_completion_minus_reasoning_tokens',
  usage_reasoning_tokens: 'tokenizer_reasoning_tokens',
  per_request_mean_from_usage: 'per_request_mean_from_tokenizer',
  output_tokens_over_content_chunks: 'tokenizer_output_tokens_over_content_chunks',
  input_tokens_over_time_to_first_token: 'tokenizer_input_tokens_over_time_to_first_token',
  inverse_inter_token_latency: 'inverse_inter_token_latency_from_tokenizer',
  output_tokens_over_request_latency: 'tokenizer_output_tokens_over_request_latency',
  ok_output_tokens_over_window: 'ok_tokenizer_output_tokens_over_window',
  ok_input_tokens_over_window: 'ok_tokenizer_input_tokens_over_window',
  ok_input_and_output_tokens_over_window: 'ok_tokenizer_input_and_output_tokens_over_window',
  output_tokens_at_full_load_over_time_at_full_load: 'tokenizer_output_tokens_at_full_load_over_time_at_full_load',
  output_tokens_over_requested_output_tokens: 'tokenizer_output_tokens_over_requested_output_tokens',
};

/** The definition that replaces ours when it is unknown what counted the tokens. */
export const UNKNOWN_SOURCE_DEFINITIONS: Readonly<Record<string, string>> = {
  usage_prompt_tokens: 'prompt_tokens_of_unknown_source',
  usage_completion_tokens: 'completion_tokens_of_unknown_source',
  usage_completion_minus_reasoning_tokens: 'completion_minus_reasoning_tokens_of_unknown_source',
  usage_reasoning_tokens: 'reasoning_tokens_of_unknown_source',
  per_request_mean_from_usage: 'per_request_mean_tokens_of_unknown_source',
  output_tokens_over_content_chunks: 'output_tokens_of_unknown_source_over_content_chunks',
  input_tokens_over_time_to_first_token: 'input_tokens_of_unknown_source_over_time_to_first_token',
  inverse_inter_token_latency: 'inverse_inter_token_latency_tokens_of_unknown_source',
  output_tokens_over_request_latency: 'output_tokens_of_unknown_source_over_request_latency',
  ok_output_tokens_over_window: 'ok_output_tokens_of_unknown_source_over_window',
  ok_input_tokens_over_window: 'ok_input_tokens_of_unknown_source_over_window',
  ok_input_and_output_tokens_over_window: 'ok_input_and_output_tokens_of_unknown_source_over_window',
  output_tokens_at_full_load_over_time_at_full_load:
    'output_tokens_of_unknown_source_at_full_load_over_time_at_full_load',
  output_tokens_over_requested_output_tokens: 'output_tokens_of_unknown_source_over_requested_output_tokens',
};

/** Which of them depend on the count of the input; the others depend on the output's. */
export const INPUT_TOKEN_DEFINITIONS: ReadonlySet<string> = new Set([
  'usage_prompt_tokens',
  'input_tokens_over_time_to_first_token',
  'ok_input_tokens_over_window',
]);

/** Those that depend on both. */
export const ALL_TOKEN_DEFINITIONS: ReadonlySet<string> = new Set(['ok_input_and_output_tokens_over_window']);

const OUR_MEASURES = [...DISTRIBUTION_MEASURES, ...Object.values(SCALAR_MEASURES)];

/** Throughputs over the time that the whole benchmark took, which is longer than from the first request to the last response. */
function overWallTime({ measure, definition, formula }: ForeignDefinition): ForeignDefinition[] {
  const ours = definition.replace(/_over_window$/, '_over_wall_time');
  const wall = formula.replace(/÷ .*$/, '÷ duration of the whole benchmark');
  const counted = ownValue(TOKENIZER_DEFINITIONS, definition)?.replace(/_over_window$/, '_over_wall_time');
  return [
    foreign(measure, ours, wall),
    ...(counted === undefined ? [] : [foreign(measure, counted, `${wall}; tokens counted by a client-side tokenizer`)]),
  ];
}

/** The same over all requests, the failed ones as infinite, with percentiles that are values themselves. */
export function nearestRank(definition: string): string {
  return `${definition}_by_nearest_rank`;
}

const OVER_ALL: readonly string[] = ['request_latency', 'time_to_first_token', 'inter_token_latency'];

function overAll(name: string): ForeignDefinition[] {
  return DISTRIBUTION_MEASURES.filter(({ measure, clock }) => measure === name && clock === 'sent').flatMap(
    ({ measure, definition, formula }) =>
      [definition, ownValue(TOKENIZER_DEFINITIONS, definition)].flatMap((each) =>
        each === undefined
          ? []
          : [
              foreign(
                measure,
                nearestRank(each),
                `${formula}; percentiles are observed values, failed requests are infinite`,
              ),
            ],
      ),
  );
}

/** The definition of a mean that the servers' own histograms give over a window. */
export const SERVER_MEAN = 'mean_of_server_observations_over_window';
/** The definition of a throughput that the servers' own counters give over a window. */
export const SERVER_RATE = 'increase_of_server_counters_over_window';

const OF_SERVERS: readonly ForeignDefinition[] = [
  ...[
    'time_to_first_token',
    'inter_token_latency',
    'request_latency',
    'input_sequence_length',
    'output_sequence_length',
  ].map((measure) =>
    foreign(measure, SERVER_MEAN, "sum ÷ count of the observations of the servers' histograms in the window"),
  ),
  ...['request_throughput', 'input_token_throughput', 'output_token_throughput'].map((measure) =>
    foreign(measure, SERVER_RATE, "increase of the servers' counters in the window ÷ its duration"),
  ),
];

/** Every definition of other tools that importers use, with what it means. */
export const FOREIGN_DEFINITIONS: readonly ForeignDefinition[] = [
  ...OF_SERVERS,
  ...OUR_MEASURES.flatMap(({ measure, definition, formula }) => {
    const counted = ownValue(TOKENIZER_DEFINITIONS, definition);
    const unknown = ownValue(UNKNOWN_SOURCE_DEFINITIONS, definition);
    return [
      ...(counted === undefined
        ? []
        : [foreign(measure, counted, `${formula}; tokens counted by a client-side tokenizer`)]),
      ...(unknown === undefined
        ? []
        : [foreign(measure, unknown, `${formula}; the source of the token counts is not reported`)]),
    ];
  }),
  foreign(
    'time_to_first_token',
    'sent_to_first_chunk',
    'first chunk of the response, with or without content − request sent',
  ),
  foreign(
    'time_to_first_token',
    'sent_to_first_output_chunk',
    'first chunk with content that is not reasoning − request sent',
  ),
  foreign(
    'time_to_first_token',
    'engine_request_to_first_token',
    'first token − request handed to the engine, measured in the engine process (no HTTP)',
  ),
  foreign('request_latency', 'sent_to_end_of_answer', 'end of the response − request sent'),
  foreign(
    'request_latency',
    'engine_request_to_last_token',
    'last token − request handed to the engine, measured in the engine process (no HTTP)',
  ),
  foreign(
    'inter_token_latency',
    'request_latency_over_output_tokens',
    'request latency ÷ output tokens (includes the first token)',
  ),
  ...OVER_ALL.flatMap(overAll),
  ...OUR_MEASURES.filter(({ definition }) => definition.endsWith('_over_window')).flatMap(overWallTime),
  foreign(
    'output_token_throughput',
    'output_tokens_of_unknown_source_over_wall_time',
    'output tokens ÷ duration of the whole benchmark; the source of the token counts is not reported',
  ),
  foreign(
    'total_token_throughput',
    'tokens_of_unknown_source_over_wall_time',
    'input and output tokens ÷ duration of the whole benchmark; the source of the token counts is not reported',
  ),
  foreign(
    'inter_token_latency',
    'per_request_mean_between_chunks_tokens_of_unknown_source',
    '(last chunk − first chunk, with or without content) ÷ (output tokens − 1); the source of the token counts is not reported',
  ),
  foreign(
    'inter_token_latency',
    'per_request_mean_to_end_of_answer_tokens_of_unknown_source',
    '(end of the response − first chunk with content) ÷ (output tokens − 1); the source of the token counts is not reported',
  ),
  foreign(
    'inter_token_latency',
    'per_request_mean_weighted_by_tokens',
    '(last chunk with content − first) ÷ (output tokens − 1), each request weighted by its output tokens − 1',
  ),
  foreign('inter_chunk_latency', 'gap_between_chunks', 'time between two consecutive chunks, with or without content'),
  foreign(
    'inter_chunk_latency',
    'gap_spread_over_its_tokens',
    'time between two consecutive chunks ÷ tokens of the second, counted once per token',
  ),
  foreign(
    'inter_chunk_latency',
    'gap_between_tokens_of_chunks',
    'time between two consecutive tokens of a tokenizer; 0 within one chunk',
  ),
  foreign(
    'time_per_output_token',
    'request_latency_over_output_tokens',
    '(end of the response − request sent) ÷ output tokens (includes the first token)',
  ),
  foreign(
    'time_per_output_token',
    'time_to_last_chunk_over_chunks_or_tokens',
    '(last chunk with content − request sent) ÷ chunks or tokenizer tokens (which one is not reported)',
  ),
  foreign('request_latency', 'sent_to_last_chunk', 'last chunk, with or without content − request sent'),
  foreign('request_latency', 'due_to_last_chunk', 'last chunk, with or without content − request due'),
  foreign('request_latency', 'due_to_end_of_answer', 'end of the response − request due'),
  foreign(
    'input_token_throughput',
    'input_tokens_of_unknown_source_over_wall_time',
    'input tokens ÷ duration of the whole benchmark; the source of the token counts is not reported',
  ),
  foreign(
    'inter_token_latency',
    'engine_per_request_mean',
    '(last token − first token) ÷ (output tokens − 1), measured in the engine process (no HTTP)',
  ),
  foreign(
    'output_token_throughput_per_user',
    'engine_generated_tokens_over_generation_time',
    '(output tokens − 1) ÷ (last token − first token), measured in the engine process',
  ),
  foreign(
    'e2e_output_token_throughput',
    'engine_output_tokens_over_request_latency',
    'output tokens ÷ request latency, measured in the engine process',
  ),
  foreign(
    'time_per_output_token',
    'time_to_last_token_over_output_tokens',
    '(last chunk with content − request sent) ÷ output tokens (includes the first token)',
  ),
  foreign(
    'time_per_output_token',
    'decode_duration_over_output_tokens',
    '(last chunk with content − first) ÷ output tokens',
  ),
  foreign(
    'request_throughput',
    'ok_requests_ended_over_measurement',
    'ok requests that ended during the measurement ÷ its duration',
  ),
  foreign(
    'input_token_throughput',
    'ok_input_tokens_spread_over_measurement',
    'input tokens of ok requests whose first token arrived during the measurement ÷ its duration',
  ),
  foreign(
    'output_token_throughput',
    'ok_output_tokens_spread_over_measurement',
    'output tokens of ok requests, spread evenly from the first to the last token, during the measurement ÷ its duration',
  ),
  foreign(
    'total_token_throughput',
    'ok_tokens_spread_over_measurement',
    'input and output tokens of ok requests, spread as for each alone, during the measurement ÷ its duration',
  ),
  foreign(
    'effective_concurrency',
    'ok_request_time_over_wall_time',
    'sum over ok requests of their latency ÷ duration of the whole benchmark',
  ),
  foreign('effective_concurrency', 'time_weighted_requests_in_flight', 'requests in flight, weighted by duration'),
];

/** What is known of a measure, for any definition. */
export interface MeasureFamily {
  readonly measure: string;
  readonly unit: Unit;
  readonly direction: Direction;
}

/** The measure of that name; null when there is none. */
export function measureFamily(measure: string): MeasureFamily | null {
  return OUR_MEASURES.find((each) => each.measure === measure) ?? null;
}

/** Whether a figure is by another definition than ours. */
export function isForeign({ measure, definition }: Pick<ForeignDefinition, 'measure' | 'definition'>): boolean {
  return !OUR_MEASURES.some((each) => each.measure === measure && each.definition === definition);
}

/** What a definition means, ours or another tool's; null when it is in no list. */
export function formulaOf(measure: string, definition: string): string | null {
  const found = [...OUR_MEASURES, ...FOREIGN_DEFINITIONS].find(
    (each) => each.measure === measure && each.definition === definition,
  );
  return found?.formula ?? null;
}
