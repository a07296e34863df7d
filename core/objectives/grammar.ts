import { GOODPUT_LIMITED } from '../measures/goodput.ts';
import { BREAKDOWN_MEASURES, breakdownOrder, MODEL_MEASURES } from '../measures/breakdown.ts';
import { DISTRIBUTION_MEASURES } from '../measures/measures.ts';
import { measureOfName, publishedName, SHORT_WORDS, statName, wholeName, shortTitle } from '../measures/names.ts';
import { RUN_SCALARS } from '../measures/scalar-results.ts';
import {
  COMPARISON_OPERATORS,
  OBJECTIVE_STATS,
  type Objective,
  type ObjectiveStat,
  type GoodputLimit,
} from '../run/objectives.ts';
import type { Unit } from '../run/statistic.ts';
import { PERCENTILE_NAMES } from '../stats/percentiles.ts';
import { nearestNames } from '../text/nearest-names.ts';

/** The units that a limit may be written in, each with its size in the base unit. */
const UNIT_SCALES: Readonly<Record<Unit, Readonly<Record<string, number>>>> = {
  seconds: { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1 },
  ratio: { '%': 0.01 },
  tokens: { tokens: 1 },
  requests: { requests: 1 },
  requests_per_second: { 'requests/s': 1 },
  tokens_per_second: { 'tokens/s': 1 },
  documents_per_second: { 'documents/s': 1 },
  images: { images: 1 },
  images_per_second: { 'images/s': 1 },
  bytes: { MB: 1e6, kB: 1e3, B: 1 },
  joules: { kJ: 1e3, J: 1 },
  watts: { kW: 1e3, W: 1 },
  cost_per_million_tokens: { '/Mtoken': 1 },
  joules_per_token: { 'mJ/token': 1e-3, 'J/token': 1 },
};

/** A text that is not of the grammar: what was expected, and at which character (from 1). */
export class GrammarError extends Error {
  override readonly name = 'GrammarError';

  constructor(text: string, at: number, expected: string) {
    super(`'${text}', character ${at + 1}: ${expected}`);
  }
}

/** What was expected where a measure of these was: the nearest, also in short, or all when none is near. */
export function unknownMeasure(written: string, names: readonly string[]): string {
  const short = SHORT_WORDS.filter((word) => names.includes(wholeName(word)));
  const [nearest] = written === '' ? [] : nearestNames(written, [...short, ...names], 1);
  return nearest === undefined
    ? `the name of a measure, in short ${short.join(', ')}, or one of ${names.join(', ')}`
    : `the name of a measure; did you mean ${nearest}?`;
}

const STATS: readonly ObjectiveStat[] = [...PERCENTILE_NAMES, ...OBJECTIVE_STATS];

const DISTRIBUTIONS = new Map<string, Unit>(
  DISTRIBUTION_MEASURES.map((measure) => [publishedName(measure), measure.unit]),
);
const SCALARS = new Map<string, Unit>(RUN_SCALARS.map(({ measure, unit }) => [measure, unit]));

/**
 * Reads a service level objective (`--slo`):
 *
 *     objective  = measure [ "{turn=" turns "}" | "{model=" name "}" ] [ ":" stat ] comparison number unit
 *     turns      = "first" | "later" | "2" | "3-4" | …                          of conversations
 *     stat       = "p1" … "p99" | "p99.9" | "mean" | "min" | "max" | "std"     only, and always, of distributions
 *     comparison = "<" | "<=" | ">" | ">="
 *
 * such as `time_to_first_token:p95<300ms` or `error_ratio<=1%`. The unit cannot be left out; spaces may stand around
 * the comparison and before the unit; a measure may be given by the field's short word (`ttft`, `tpot`). Throws a `GrammarError`.
 */
export function parseObjective(text: string): Objective {
  const cursor = new Cursor(text);
  const written = cursor.take(/[a-z0-9_]*/y);
  const measure = wholeName(written);
  const unit = DISTRIBUTIONS.get(measure) ?? SCALARS.get(measure);
  if (unit === undefined) {
    throw cursor.errorBack(written, unknownMeasure(written, [...DISTRIBUTIONS.keys(), ...SCALARS.keys()]));
  }
  const part = parsePart(cursor, measure);
  const stat = parseStat(cursor, measure);
  cursor.take(/ */y);
  const sign = cursor.take(/[<>]=?/y);
  const comparison = COMPARISON_OPERATORS.find((each) => each === sign);
  if (comparison === undefined) throw cursor.error(`a comparison, one of ${COMPARISON_OPERATORS.join(' ')}`);
  cursor.take(/ */y);
  const number = cursor.take(/[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/y);
  if (number === '') throw cursor.error('a number');
  cursor.take(/ */y);
  const writtenUnit = cursor.take(/\S*/y);
  const scale = Object.hasOwn(UNIT_SCALES[unit], writtenUnit) ? UNIT_SCALES[unit][writtenUnit] : undefined;
  const units = `one of ${Object.keys(UNIT_SCALES[unit]).join(', ')}`;
  if (scale === undefined)
    throw cursor.errorBack(writtenUnit, writtenUnit === '' ? `the unit is missing: ${units}` : `a unit, ${units}`);
  if (!cursor.atEnd) throw cursor.error('the end, after the unit');
  return { measure: measure + part, stat, comparison, limit: scaled(Number(number), scale), unit };
}

/** Of which requests: turns of conversations, or those to a model; empty: of all. */
function parsePart(cursor: Cursor, measure: string): string {
  const part = cursor.take(/\{[^{}]*\}?/y);
  if (part === '') return '';
  const [, by, value = ''] = /^\{(turn|model)=(.+)\}$/.exec(part) ?? [];
  const isKnown = by === 'model' || (by === 'turn' && breakdownOrder({ by, value }) >= 0);
  if (!isKnown) throw cursor.errorBack(part, 'which requests: {turn=first}, {turn=later} or {model=NAME}');
  const ofParts = by === 'model' ? MODEL_MEASURES : BREAKDOWN_MEASURES;
  if (!ofParts.has(measureOfName(measure).measure))
    throw cursor.errorBack(part, `${measure} is one of all requests together`);
  return part;
}

function parseStat(cursor: Cursor, measure: string): ObjectiveStat | null {
  const colon = cursor.take(/:/y);
  if (SCALARS.has(measure)) {
    if (colon !== '') throw cursor.errorBack(colon, `${measure} is one number and has no statistic`);
    return null;
  }
  const names = STATS.map(statName).join(', ');
  if (colon === '') throw cursor.error(`":" and a statistic of ${measure}, one of ${names}`);
  const written = cursor.take(/[a-z0-9_.]*/y);
  const stat = STATS.find((each) => each === written.replace('.', '_'));
  if (stat === undefined) throw cursor.errorBack(written, `a statistic, one of ${names}`);
  return stat;
}

class Cursor {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** What the sticky pattern finds here; empty when it finds nothing. */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  error(expected: string): GrammarError {
    return new GrammarError(this.#text, this.#at, expected);
  }

  /** The mistake is what was just taken. */
  errorBack(taken: string, expected: string): GrammarError {
    return new GrammarError(this.#text, this.#at - taken.length, expected);
  }
}

/** The objective as it can be read again, in base units or milliseconds. */
export function objectiveText({ measure, stat, comparison, limit, unit }: Objective): string {
  const of = stat === null ? measure : `${measure}:${statName(stat)}`;
  const [name, scale] = unit === 'seconds' ? ['ms', 1e3] : unit === 'ratio' ? ['%', 100] : [baseName(unit), 1];
  return `${of}${comparison}${scaled(limit, scale)}${name}`;
}

const baseName = (unit: Unit): string => Object.entries(UNIT_SCALES[unit]).find(([, scale]) => scale === 1)?.[0] ?? '';

/** A number times a power of ten as it is written: 300 ms is 0.3 s and not 0.30000000000000004. */
function scaled(number: number, scale: number): number {
  return Number((number * scale).toPrecision(15));
}

/**
 * Reads AIPerf's `--goodput`: `measure:limit` pairs with spaces between them, such as
 * `time_to_first_token:300 inter_token_latency:50`, or in short as vLLM's, `ttft:300 tpot:50`. Limits are in AIPerf's
 * display units: milliseconds for times, tokens per second for throughputs. Throws a `GrammarError`.
 */
export function parseGoodput(text: string): readonly GoodputLimit[] {
  const limits: GoodputLimit[] = [];
  for (const { 0: pair, index } of text.matchAll(/\S+/g)) {
    const [written = '', ...rest] = pair.split(':');
    const name = wholeName(written);
    const measure = GOODPUT_LIMITED.find((each) => each.measure === name);
    if (measure === undefined) {
      const names = GOODPUT_LIMITED.map((each) => each.measure);
      throw new GrammarError(text, index, unknownMeasure(written, names));
    }
    if (limits.some((limit) => limit.measure === name))
      throw new GrammarError(text, index, `${name} has a limit already`);
    const number = rest.join(':');
    if (!/^\d+(\.\d+)?([eE][-+]?\d+)?$/.test(number)) {
      const unit = measure.unit === 'seconds' ? 'milliseconds' : measure.unit.replaceAll('_', ' ');
      throw new GrammarError(text, index + written.length, `":" and a number of ${unit}`);
    }
    limits.push({
      measure: name,
      limit: scaled(Number(number), measure.unit === 'seconds' ? 1e-3 : 1),
      unit: measure.unit,
    });
  }
  if (limits.length === 0) throw new GrammarError(text, 0, 'a measure and its limit, such as time_to_first_token:300');
  return limits;
}

/** An objective in a few words: `TTFT p99 <= 500 ms`. */
export function objectiveWords({ measure, stat, comparison, limit, unit }: Objective): string {
  return [shortTitle(measure, stat), comparison, limitText(limit, unit)].join(' ');
}

function limitText(limit: number, unit: Unit): string {
  const scaledBy = (scale: number): number => Number((limit * scale).toPrecision(6));
  if (unit === 'seconds') return limit < 1 ? `${scaledBy(1000)} ms` : `${limit} s`;
  return unit === 'ratio' ? `${scaledBy(100)} %` : String(limit);
}
