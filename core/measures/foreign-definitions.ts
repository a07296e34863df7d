import { DISTRIBUTION_MEASURES } from './measures.ts';
import type { Direction, Unit } from './measures.ts';
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
 * server. Both directions of a count are told apart by the measure that it belongs to.
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

/** The definition that takes the place of ours when nobody tells who counted the tokens. */
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
  const wall = formula.replace(/÷ .*$/, '÷ the time that the whole benchmark took');
  const counted = TOKENIZER_DEFINITIONS[definition]?.replace(/_over_window$/, '_over_wall_time');
  return [
    foreign(measure, ours, wall),
    ...(counted === undefined
      ? []
      : [foreign(measure, counted, `${wall}; tokens counted by a tokenizer of the client`)]),
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
      [definition, TOKENIZER_DEFINITIONS[definition]].flatMap((each) =>
        each === undefined
          ? []
          : [
              foreign(
                measure,
                nearestRank(each),
                `${formula}; percentiles are values themselves, failed requests infinite`,
              ),
            ],
      ),
  );
}

/** Every definition of other tools that importers use, with what it means. */
export const FOREIGN_DEFINITIONS: readonly ForeignDefinition[] = [
  ...OUR_MEASURES.flatMap(({ measure, definition, formula }) => {
    const counted = TOKENIZER_DEFINITIONS[definition];
    const unknown = UNKNOWN_SOURCE_DEFINITIONS[definition];
    return [
      ...(counted === undefined
        ? []
        : [foreign(measure, counted, `${formula}; tokens counted by a tokenizer of the client`)]),
      ...(unknown === undefined ? [] : [foreign(measure, unknown, `${formula}; who counted the tokens is not told`)]),
    ];
  }),
  foreign(
    'time_to_first_token',
    'sent_to_first_chunk',
    'first chunk of the answer, with or without content − request sent',
  ),
  foreign(
    'time_to_first_token',
    'sent_to_first_output_chunk',
    'first chunk with content that is not reasoning − request sent',
  ),
  foreign(
    'time_to_first_token',
    'engine_request_to_first_token',
    'first token − request handed to the engine, measured in the process of the engine: no HTTP',
  ),
  foreign('request_latency', 'sent_to_end_of_answer', 'end of the answer − request sent'),
  foreign(
    'request_latency',
    'engine_request_to_last_token',
    'last token − request handed to the engine, measured in the process of the engine: no HTTP',
  ),
  foreign(
    'inter_token_latency',
    'request_latency_over_output_tokens',
    'request latency ÷ output tokens: the first token is inside',
  ),
  ...OVER_ALL.flatMap(overAll),
  ...OUR_MEASURES.filter(({ definition }) => definition.endsWith('_over_window')).flatMap(overWallTime),
  foreign(
    'output_token_throughput',
    'output_tokens_of_unknown_source_over_wall_time',
    'output tokens ÷ the time that the whole benchmark took; who counted the tokens is not told',
  ),
  foreign(
    'total_token_throughput',
    'tokens_of_unknown_source_over_wall_time',
    'input and output tokens ÷ the time that the whole benchmark took; who counted the tokens is not told',
  ),
  foreign(
    'inter_token_latency',
    'per_request_mean_between_chunks_tokens_of_unknown_source',
    '(last chunk − first chunk, with or without content) ÷ (output tokens − 1); who counted the tokens is not told',
  ),
  foreign(
    'inter_token_latency',
    'per_request_mean_to_end_of_answer_tokens_of_unknown_source',
    '(end of the answer − first chunk with content) ÷ (output tokens − 1); who counted the tokens is not told',
  ),
  foreign(
    'inter_token_latency',
    'per_request_mean_weighted_by_tokens',
    '(last chunk with content − first) ÷ (output tokens − 1), each request weighted with its output tokens − 1',
  ),
  foreign('inter_chunk_latency', 'gap_between_chunks', 'time between two neighbouring chunks, with or without content'),
  foreign(
    'inter_chunk_latency',
    'gap_spread_over_its_tokens',
    'time between two neighbouring chunks ÷ the tokens of the second, once for each of these tokens',
  ),
  foreign('request_latency', 'sent_to_last_chunk', 'last chunk, with or without content − request sent'),
  foreign('request_latency', 'due_to_last_chunk', 'last chunk, with or without content − request due'),
  foreign('request_latency', 'due_to_end_of_answer', 'end of the answer − request due'),
  foreign(
    'input_token_throughput',
    'input_tokens_of_unknown_source_over_wall_time',
    'input tokens ÷ the time that the whole benchmark took; who counted the tokens is not told',
  ),
  foreign(
    'inter_token_latency',
    'engine_per_request_mean',
    '(last token − first token) ÷ (output tokens − 1), measured in the process of the engine: no HTTP',
  ),
  foreign(
    'output_token_throughput_per_user',
    'engine_generated_tokens_over_generation_time',
    '(output tokens − 1) ÷ (last token − first token), measured in the process of the engine',
  ),
  foreign(
    'e2e_output_token_throughput',
    'engine_output_tokens_over_request_latency',
    'output tokens ÷ request latency, measured in the process of the engine',
  ),
  foreign(
    'time_per_output_token',
    'time_to_last_token_over_output_tokens',
    '(last chunk with content − request sent) ÷ output tokens: the first token is inside',
  ),
  foreign(
    'time_per_output_token',
    'decode_duration_over_output_tokens',
    '(last chunk with content − first) ÷ output tokens',
  ),
  foreign(
    'request_throughput',
    'ok_requests_ended_over_measurement',
    'ok requests that ended in the measurement ÷ its time',
  ),
  foreign(
    'input_token_throughput',
    'ok_input_tokens_spread_over_measurement',
    'input tokens of ok requests whose first token came in the measurement ÷ its time',
  ),
  foreign(
    'output_token_throughput',
    'ok_output_tokens_spread_over_measurement',
    'output tokens of ok requests, spread evenly from the first to the last, in the measurement ÷ its time',
  ),
  foreign(
    'total_token_throughput',
    'ok_tokens_spread_over_measurement',
    'input and output tokens of ok requests, spread as for each, in the measurement ÷ its time',
  ),
  foreign(
    'effective_concurrency',
    'ok_request_time_over_wall_time',
    'sum over ok requests of their latency ÷ the time that the whole benchmark took',
  ),
  foreign(
    'effective_concurrency',
    'time_weighted_requests_in_flight',
    'requests in flight, each weighted with the time that it lasted',
  ),
];

/** What is known of a measure, whoever defined it. */
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
