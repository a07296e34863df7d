import type { MeasureResult } from '../../core/run/result.ts';
import type { ListedRequest } from './request-lists.ts';
import { exactStated } from './stated-values.ts';

/** The lengths of ok requests whose tokens are listed without a word of who counted them. */
export function lengthMeasures(requests: readonly ListedRequest[]): MeasureResult[] {
  const inputs = requests.flatMap(({ input_tokens }) => input_tokens ?? []);
  const outputs = requests.flatMap(({ output_tokens }) => output_tokens ?? []);
  const input = { measure: 'input_sequence_length', definition: 'prompt_tokens_of_unknown_source' };
  const output = { measure: 'output_sequence_length', definition: 'completion_tokens_of_unknown_source' };
  return [exactStated(input, Float64Array.from(inputs)), exactStated(output, Float64Array.from(outputs))].filter(
    (result) => result !== null,
  );
}
