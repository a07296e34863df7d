import { describe, expect, test } from '@jest/globals';
import {
  formulaOf,
  TOKENIZER_DEFINITIONS,
  UNKNOWN_SOURCE_DEFINITIONS,
} from '../../core/measures/foreign-definitions.ts';
import { bySource } from './import-measures.ts';
import { statedDistribution, statedScalar } from './stated/stated-measures.ts';

const output = statedDistribution(
  { measure: 'output_sequence_length', definition: 'usage_completion_tokens' },
  { n: 3 },
);
const input = statedDistribution({ measure: 'input_sequence_length', definition: 'usage_prompt_tokens' }, { n: 3 });
const total = statedScalar(
  { measure: 'total_token_throughput', definition: 'ok_input_and_output_tokens_over_window' },
  5,
);
const latency = statedDistribution({ measure: 'request_latency', definition: 'sent_to_last_content_chunk' }, { n: 3 });

describe('the definition of what was computed from records reports who counted the tokens', () => {
  const definitions = (...sources: Parameters<typeof bySource>): string[] =>
    bySource(...sources).map(({ definition }) => definition);

  test.each([
    ['usage', 'usage', 'usage_prompt_tokens', 'usage_completion_tokens', 'ok_input_and_output_tokens_over_window'],
    [
      'tokenizer',
      'usage',
      'tokenizer_prompt_tokens',
      'usage_completion_tokens',
      'ok_tokenizer_input_and_output_tokens_over_window',
    ],
    [
      null,
      'usage',
      'prompt_tokens_of_unknown_source',
      'usage_completion_tokens',
      'ok_input_and_output_tokens_of_unknown_source_over_window',
    ],
    [
      null,
      null,
      'prompt_tokens_of_unknown_source',
      'completion_tokens_of_unknown_source',
      'ok_input_and_output_tokens_of_unknown_source_over_window',
    ],
  ] as const)('input %s, output %s', (inputs, outputs, ...expected) => {
    const sources = { input: inputs, output: outputs };
    expect(definitions([input, output, total, latency], sources)).toEqual([...expected, 'sent_to_last_content_chunk']);
  });

  test('without a value nothing was counted', () => {
    const none = statedScalar({ measure: 'total_token_throughput', definition: total.definition }, null);
    expect(definitions([{ ...output, n: 0 }, none], { input: null, output: null })).toEqual([
      'usage_completion_tokens',
      'ok_input_and_output_tokens_over_window',
    ]);
  });

  test('each has both names, and each name a formula', () => {
    expect(Object.keys(UNKNOWN_SOURCE_DEFINITIONS)).toEqual(Object.keys(TOKENIZER_DEFINITIONS));
    expect(formulaOf('output_sequence_length', 'completion_tokens_of_unknown_source')).toMatch(/is not reported$/);
    expect(formulaOf('inter_token_latency', 'per_request_mean_tokens_of_unknown_source')).toMatch(/is not reported$/);
  });
});

test('a summary that does not report how many values it is of leaves that unknown', () => {
  expect(statedDistribution({ measure: 'inter_token_latency', definition: 'x' }, { n: null, mean: 1 }).n).toBeNull();
});
