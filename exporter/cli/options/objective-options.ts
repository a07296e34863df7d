import type { Objectives } from '../../../core/run/objectives.ts';
import { parseGoodput, GrammarError, parseObjective } from '../../../core/objectives/grammar.ts';
import { CliError } from '../failure.ts';
import { choice, list, text, texts, type OptionValues } from './options.ts';

/** The objectives of a run. */
export const OBJECTIVE_OPTIONS = {
  goodput: {
    ...text<string | null>(
      'LIMITS',
      'limits of a good request: "ttft:300 itl:50", or with full measure names (milliseconds, tokens/s)',
      null,
    ),
    multiple: true,
    isList: true,
    separator: ' ',
    parse: (given: readonly string[]): string => given.join(' '),
  },
  slo: list(
    texts(
      'SLO',
      'objective of the run: "ttft:p95<300ms", "error_ratio<=1%"; exit code 99 when not met; may be repeated',
    ),
  ),
  'slo-undecided': choice(['pass', 'fail'], 'whether an undecided objective is exit code 0 or 99', 'pass'),
};

/** Null without objectives. Throws a `CliError`. */
export function requestedObjectives(
  options: Pick<OptionValues<typeof OBJECTIVE_OPTIONS>, 'goodput' | 'slo'>,
): Objectives | null {
  const { goodput, slo } = options;
  if (goodput === null && slo.length === 0) return null;
  return {
    goodput: goodput === null ? [] : parsed('goodput', goodput, parseGoodput),
    slos: slo.map((each) => parsed('slo', each, parseObjective)),
  };
}

function parsed<T>(name: string, given: string, parse: (text: string) => T): T {
  try {
    return parse(given);
  } catch (error) {
    if (error instanceof GrammarError) throw new CliError(`--${name} ${error.message}`);
    throw error;
  }
}
