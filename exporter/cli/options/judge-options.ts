import { userInfo } from 'node:os';
import { wholeName } from '../../../core/measures/short-names.ts';
import { unknownMeasure } from '../../judge/slo-grammar.ts';
import { defaultRules, judgedMeasures, MOST_PRIMARY, type PrimaryMeasure, type Rules } from '../../judge/rules.ts';
import type { RunFigures, Stat } from '../../judge/run-figures.ts';
import { CliError } from '../failure.ts';
import { choice, flag, integer, text, texts, type OptionValues } from './options.ts';

const STATS: readonly Stat[] = ['mean', 'p50', 'p90', 'p99', 'value'];

/** How runs are judged; the defaults are shown with every verdict. */
export const RULE_OPTIONS = {
  margin: texts(
    'PERCENT|MEASURE[:STAT]=PERCENT',
    'smallest change that matters (default 5 %), for all measures or for one; may be repeated',
  ),
  gate: texts(
    'MEASURE[:STAT]',
    `measures that decide the verdict, at most ${MOST_PRIMARY}, e.g. time_to_first_token:p50; may be repeated`,
  ),
};

export const VERDICT_OPTIONS = {
  format: choice(['text', 'markdown', 'junit', 'json'], 'output format', 'text'),
  undecided: choice(['pass', 'fail'], 'whether an undecided or suspect result is exit code 0 or 99', 'pass'),
};

/** The rules that the options ask for, on top of the defaults for these runs. Throws a `CliError`. */
export function requestedRules(options: OptionValues<typeof RULE_OPTIONS>, runs: readonly RunFigures[]): Rules {
  const defaults = defaultRules(runs);
  const primary = options.gate.length === 0 ? defaults.primary : options.gate.map(primaryMeasure);
  if (primary.length > MOST_PRIMARY) {
    throw new CliError(`--gate is given ${primary.length} times and must be given at most ${MOST_PRIMARY} times`);
  }
  let { margin } = defaults;
  const margins: Record<string, number> = { ...defaults.margins };
  for (const given of options.margin) {
    const [, name, percent = ''] = /^(?:([^=]+)=)?(.*)$/.exec(given) ?? [];
    const ratio = ratioOf(percent, given);
    if (name === undefined) margin = ratio;
    else margins[marginName(name)] = ratio;
  }
  return { ...defaults, primary, margin, margins };
}

function primaryMeasure(given: string): PrimaryMeasure {
  const [name = '', stat = 'value'] = given.split(':');
  const known = STATS.find((each) => each === stat);
  if (known === undefined)
    throw new CliError(`--gate is '${given}' and its statistic must be one of ${STATS.join(', ')}`);
  return { measure: measureName(name, '--gate'), stat: known };
}

function marginName(given: string): string {
  const [name = '', stat] = given.split(':');
  const measure = measureName(name, '--margin');
  return stat === undefined ? measure : `${measure}:${stat}`;
}

function measureName(given: string, option: string): string {
  const name = wholeName(given);
  const known = judgedMeasures();
  if (!known.includes(name)) throw new CliError(`${option} is '${given}' and must be ${unknownMeasure(name, known)}`);
  return name;
}

function ratioOf(percent: string, given: string): number {
  const number = Number(percent.replace(/\s*%$/, ''));
  if (percent.trim() === '' || !(number > 0 && number <= 1000)) {
    throw new CliError(
      `--margin is '${given}' and must be a percentage above 0, such as 5 or time_to_first_token:p50=3`,
    );
  }
  return number / 100;
}

/** Who changes a baseline. */
export const AUTHOR_OPTION = {
  author: text('NAME', 'who decided (default: the CI user or the login name)', null),
};

const MOST_CONFIRMING = 50;

export const CHECK_OPTIONS = {
  'accept-passed': flag('add the judged runs to the baseline when they passed'),
  confirm: integer(
    'make up to N more runs of the same plan when the first looks suspect',
    { min: 0, max: MOST_CONFIRMING },
    0,
  ),
  ...RULE_OPTIONS,
  ...VERDICT_OPTIONS,
  ...AUTHOR_OPTION,
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
