import type { MeasureResult } from '../../core/run/result.ts';
import type { ListedSurvey } from './listed-survey.ts';
import { exactStated } from './stated-values.ts';

/** The lengths of ok requests whose tokens are listed without a word of who counted them. */
export function lengthMeasures({ input_tokens, output_tokens }: ListedSurvey): MeasureResult[] {
  const input = { measure: 'input_sequence_length', definition: 'prompt_tokens_of_unknown_source' };
  const output = { measure: 'output_sequence_length', definition: 'completion_tokens_of_unknown_source' };
  return [exactStated(input, input_tokens.toArray()), exactStated(output, output_tokens.toArray())].filter(
    (result) => result !== null,
  );
}
