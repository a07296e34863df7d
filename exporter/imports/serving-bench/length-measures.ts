import type { MeasureResult } from '../../../core/run/result.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { Fields } from '../reading/fields.ts';
import { statedDistribution } from '../stated/stated-measures.ts';
import { exactStated } from '../stated/stated-values.ts';
import type { ListedSurvey } from './listed-survey.ts';

/** The file does not report who counted the tokens. */
const INPUT = { measure: 'input_sequence_length', definition: 'prompt_tokens_of_unknown_source' } as const;
const OUTPUT = { measure: 'output_sequence_length', definition: 'completion_tokens_of_unknown_source' } as const;

/** The lengths of the ok requests that a file lists. */
export function lengthMeasures({ input_tokens, output_tokens }: ListedSurvey): MeasureResult[] {
  return [exactStated(INPUT, input_tokens.toArray()), exactStated(OUTPUT, output_tokens.toArray())].filter(
    (result) => result !== null,
  );
}

/**
 * The mean lengths from `total_input_tokens` and `total_output_tokens`, which both tools sum over the ok requests, of
 * which there are `ok`. Where the file lists its requests, their sums are checked against the totals instead.
 */
export function totalLengths(
  fields: Fields,
  ok: number | null,
  survey: ListedSurvey | null,
  notes: ImportNotes,
): MeasureResult[] {
  const sides = [
    ['total_input_tokens', INPUT, survey?.input_tokens],
    ['total_output_tokens', OUTPUT, survey?.output_tokens],
  ] as const;
  return sides.flatMap(([name, identity, listed]) => {
    const total = fields.count(name);
    if (total === null || ok === null || ok === 0) return [];
    if (listed === undefined || listed.length < ok) return [statedDistribution(identity, { n: ok, mean: total / ok })];
    const sum = listed.toArray().reduce((a, b) => a + b, 0);
    if (sum !== total) notes.disagreement(`${name}: the file states ${total}, its listed requests have ${sum}`);
    return [];
  });
}
