import { parseRules, RuleError, type RuleChoices } from '../../judge/rule-choices.ts';
import { wrongParameters } from '../problem.ts';

/** The rules in the parameters `gate` and `margin`. Throws a `Problem` 400. */
export function requestedRules(texts: {
  readonly gate: readonly string[];
  readonly margin: readonly string[];
}): RuleChoices {
  try {
    return parseRules(texts);
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    const { parameter: name, given: value, expected } = error;
    throw wrongParameters([{ name, value, allowed: [expected] }]);
  }
}
