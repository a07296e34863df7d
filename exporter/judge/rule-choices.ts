import { wholeName } from '../../core/measures/names.ts';
import { defaultRules, judgedMeasures, MAX_PRIMARY, type PrimaryMeasure, type Rules } from './rules.ts';
import type { RunFigures } from './run-figures.ts';
import type { Stat } from '../../core/api/verdict.ts';
import { unknownMeasure } from '../../core/objectives/grammar.ts';

/** What a user chose of the rules; the rest are the defaults. */
export interface RuleChoices {
  /** Null: the default measures gate. */
  readonly primary: readonly PrimaryMeasure[] | null;
  /** As a ratio above 0; null: the default. */
  readonly margin: number | null;
  /** For single measures, by `measure` or `measure:stat`. */
  readonly margins: Readonly<Record<string, number>>;
}

/** Nothing was chosen. */
export const DEFAULT_RULES: RuleChoices = { primary: null, margin: null, margins: {} };

/** A rule that is not of the grammar: `NAME is 'GIVEN' and must be EXPECTED`. */
export class RuleError extends Error {
  override readonly name = 'RuleError';
  readonly parameter: 'gate' | 'margin';
  readonly given: string;
  readonly expected: string;

  constructor(parameter: RuleError['parameter'], given: string, expected: string) {
    super(`${parameter} is '${given}' and must be ${expected}`);
    this.parameter = parameter;
    this.given = given;
    this.expected = expected;
  }
}

const STATS: readonly Stat[] = ['mean', 'p50', 'p90', 'p99', 'value'];

/** `gate`: `MEASURE[:STAT]`; `margin`: `PERCENT` or `MEASURE[:STAT]=PERCENT`. Throws a `RuleError`. */
export function parseRules({
  gate,
  margin,
}: {
  readonly gate: readonly string[];
  readonly margin: readonly string[];
}): RuleChoices {
  if (gate.length > MAX_PRIMARY) throw new RuleError('gate', gate.join(','), `at most ${MAX_PRIMARY} measures`);
  let general: number | null = null;
  const margins = Object.create(null) as Record<string, number>;
  for (const given of margin) {
    const [, name, percent = ''] = /^(?:([^=]+)=)?(.*)$/s.exec(given) ?? [];
    const ratio = ratioOf(percent, given);
    if (name === undefined) general = ratio;
    else margins[marginName(name, given)] = ratio;
  }
  return { primary: gate.length === 0 ? null : gate.map(primaryMeasure), margin: general, margins };
}

/** The rules for these runs. */
export function rulesFor({ primary, margin, margins }: RuleChoices, runs: readonly RunFigures[]): Rules {
  const defaults = defaultRules(runs);
  return {
    ...defaults,
    primary: primary ?? defaults.primary,
    margin: margin ?? defaults.margin,
    margins: { ...defaults.margins, ...margins },
  };
}

function primaryMeasure(given: string): PrimaryMeasure {
  const [name = '', stat = 'value'] = given.split(':');
  const known = STATS.find((each) => each === stat);
  if (known === undefined) throw new RuleError('gate', given, `MEASURE:STAT with STAT one of ${STATS.join(', ')}`);
  return { measure: measureName(name, 'gate', given), stat: known };
}

function marginName(name: string, given: string): string {
  const [measure = '', stat] = name.split(':');
  const known = measureName(measure, 'margin', given);
  return stat === undefined ? known : `${known}:${stat}`;
}

function measureName(name: string, parameter: RuleError['parameter'], given: string): string {
  const measure = wholeName(name);
  const known = judgedMeasures();
  if (!known.includes(measure)) throw new RuleError(parameter, given, unknownMeasure(measure, known));
  return measure;
}

function ratioOf(percent: string, given: string): number {
  const number = Number(percent.replace(/\s*%$/, ''));
  if (percent.trim() !== '' && number > 0 && number <= 1000) return number / 100;
  throw new RuleError('margin', given, 'a percentage above 0, such as 5 or time_to_first_token:p50=3');
}
