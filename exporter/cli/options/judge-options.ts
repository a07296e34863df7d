import { userInfo } from 'node:os';
import { parseRules, RuleError, MAX_PRIMARY, type RuleChoices } from '../../judge/rules.ts';
import { CliError } from '../failure.ts';
import { MAX_STAGES } from '../../../core/run/load.ts';
import { choice, flag, integer, text, texts, type Option, type OptionValues } from './options.ts';

/** How runs are judged; the defaults are shown with every verdict. */
export const RULE_OPTIONS = {
  margin: texts(
    'PERCENT|MEASURE[:STAT]=PERCENT',
    'smallest change that matters (default 5 %), for all measures or for one; may be repeated',
  ),
  gate: texts(
    'MEASURE[:STAT]',
    `measures that decide the verdict, at most ${MAX_PRIMARY}, e.g. time_to_first_token:p50; may be repeated`,
  ),
};

export const STAGE_OPTION = {
  stage: integer('of runs with --stages, the number of the stage to judge, from 1', { min: 1, max: MAX_STAGES }, null),
};

export const VERDICT_OPTIONS = {
  format: choice(
    ['text', 'markdown', 'html', 'junit', 'json'],
    'output format; html is one self-contained page',
    'text',
  ),
  undecided: choice(['pass', 'fail'], 'whether an undecided or suspect result is exit code 0 or 99', 'pass'),
};

/** What the options choose of the rules. Throws a `CliError`. */
export function requestedRules(options: OptionValues<typeof RULE_OPTIONS>): RuleChoices {
  try {
    return parseRules(options);
  } catch (error) {
    if (error instanceof RuleError) throw new CliError(`--${error.message}`);
    throw error;
  }
}

/** Who changes a baseline. */
export const AUTHOR_OPTION = {
  author: text('NAME', 'who decided (default: the CI user or the login name)', null),
};

/** The change that checks of a scenario have to see, as a ratio above 0. */
export const DETECT_OPTION: { readonly detect: Option<number | null> } = {
  detect: {
    help: 'change that checks of the scenario have to see from now on, e.g. 10%; check warns when it cannot',
    value: 'PERCENT',
    parse: ([given = '']) => {
      const percent = Number(given.replace(/\s*%$/, ''));
      if (given.trim() === '' || !(percent > 0 && percent <= 1000))
        throw new Error('a percentage above 0, such as 10%');
      return percent / 100;
    },
    fallback: null,
  },
};

const MAX_CONFIRMING = 50;

/** How a run is judged; what makes confirming runs is in `CHECK_OPTIONS`. */
export const JUDGE_OPTIONS = {
  'accept-passed': flag('add the judged runs to the baseline when they passed'),
  ...DETECT_OPTION,
  ...RULE_OPTIONS,
  ...VERDICT_OPTIONS,
  ...AUTHOR_OPTION,
};

export const CHECK_OPTIONS = {
  confirm: integer(
    'make up to N more runs of the same plan when the first looks suspect',
    { min: 0, max: MAX_CONFIRMING },
    0,
  ),
  ...JUDGE_OPTIONS,
};

export function requestedAuthor(
  { author }: { readonly author: string | null },
  environment: NodeJS.ProcessEnv,
): string | null {
  const named = author ?? environment['GITHUB_ACTOR'] ?? environment['GITLAB_USER_LOGIN'] ?? environment['USER'];
  if (named !== undefined && named !== '') return named;
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return null;
  }
}
