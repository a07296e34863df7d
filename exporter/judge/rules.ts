import type { FigureKey, Stat } from '../../core/api/verdict.ts';
import { CONVERSATION_MEASURES } from '../../core/measures/conversations.ts';
import { DISTRIBUTION_MEASURES, type Direction, type ScalarMeasure } from '../../core/measures/measures.ts';
import { publishedName, wholeName } from '../../core/measures/names.ts';
import { CAPACITY_MEASURES } from '../../core/measures/scalar-measures.ts';
import { JUDGED_OF_SERVERS, RUN_SCALARS } from '../../core/measures/scalar-results.ts';
import { unknownMeasure } from '../../core/objectives/grammar.ts';
import type { Figure, RunFigures } from './run-figures.ts';

/** How a scenario is judged. */
export interface Rules {
  /** The measures that gate, at most five; the others are reported. */
  readonly primary: readonly PrimaryMeasure[];
  /** The smallest change that matters, as a ratio above 0: 0.05 is 5 %. */
  readonly margin: number;
  /** The same for single measures, by `measure` or `measure:stat`, of which the second comes first. */
  readonly margins: Readonly<Record<string, number>>;
  /** The chance of any false alarm among the gating measures in one comparison when nothing changed. */
  readonly alpha: number;
  /** Whose figures gate; absent: the client's. */
  readonly origin?: 'server';
}

export interface PrimaryMeasure {
  readonly measure: string;
  readonly stat: Stat;
}

export const MAX_PRIMARY = 5;

const MARGIN = 0.05;
const ALPHA = 0.05;
/** The turns of conversations whose latencies are judged apart. */
const TURNS_APART = ['turn=first', 'turn=later'] as const;
/** One request in a hundred: of shares of requests 5 % would be far too many. */
const SHARE_MARGINS = { error_ratio: 0.01, stall_ratio: 0.01 };
/** The resolution of a search. */
const CAPACITY_MARGINS = { concurrency_capacity: 0.1, request_rate_capacity: 0.1 };
/** A search has measures of its own. */
const JUDGED_SCALARS: readonly ScalarMeasure[] = [...RUN_SCALARS, ...Object.values(CAPACITY_MEASURES)];

/**
 * The measures that gate unless the scenario says otherwise: how long users wait for the first token, usually and often
 * (the queue shows at p90 first), how fast text comes, what the servers get done, and how often they fail. Request latency
 * follows from the first two and would only cost the others power; p99 needs more requests than most runs have. Of
 * conversations the first and the later turns gate apart. Responses that are not generated have no tokens: their latency and
 * the documents per second gate.
 */
export function defaultRules(runs: readonly { readonly figures: readonly Figure[] }[]): Rules {
  if (areOfServers(runs)) return serverRules(runs);
  const hasDocuments = runs.some(({ figures }) =>
    figures.some(({ measure, value }) => measure === 'document_throughput' && value !== null),
  );
  const withGoodput = runs.some(({ figures }) => figures.some(({ measure }) => measure === 'goodput'));
  const withTurns = TURNS_APART.every((turns) =>
    runs.every(({ figures }) => figures.some(({ breakdown }) => breakdown === turns)),
  );
  const firstTokens: readonly PrimaryMeasure[] =
    runs.length > 0 && withTurns
      ? TURNS_APART.map((turns) => ({ measure: `time_to_first_token{${turns}}`, stat: 'p90' }))
      : [
          { measure: 'time_to_first_token', stat: 'p50' },
          { measure: 'time_to_first_token', stat: 'p90' },
        ];
  const latencies: readonly PrimaryMeasure[] = hasDocuments
    ? [
        { measure: 'request_latency', stat: 'p50' },
        { measure: 'request_latency', stat: 'p90' },
      ]
    : [...firstTokens, { measure: 'inter_token_latency', stat: 'p50' }];
  const throughput = hasDocuments ? 'document_throughput' : 'output_token_throughput';
  return {
    primary: [
      ...latencies,
      { measure: withGoodput ? 'goodput' : throughput, stat: 'value' },
      { measure: 'error_ratio', stat: 'value' },
    ],
    margin: MARGIN,
    margins: { ...SHARE_MARGINS, ...CAPACITY_MARGINS },
    alpha: ALPHA,
  };
}

/** Whether nothing was measured by a client: windows of what servers recorded. */
export function areOfServers(runs: readonly { readonly figures: readonly Figure[] }[]): boolean {
  return (
    runs.length > 0 &&
    runs.every(({ figures }) => figures.length > 0 && figures.every(({ origin }) => origin === 'server'))
  );
}

/** In the order of preference: the latency of a request contains the length of its response, and gates only alone. */
const SERVER_PRIMARY = [['time_to_first_token', 'inter_token_latency'], ['request_latency']] as const;

/** The servers' means, which their sums and counts make exact; their percentiles are intervals, and their throughput is the load. */
function serverRules(runs: readonly { readonly figures: readonly Figure[] }[]): Rules {
  const isMeasured = (name: string): boolean =>
    runs.some(({ figures }) =>
      figures.some(({ measure, stat, value }) => measure === name && stat === 'mean' && value !== null),
    );
  const found = SERVER_PRIMARY.map((names) => names.filter(isMeasured)).find((names) => names.length > 0) ?? [];
  return {
    primary: found.map((measure) => ({ measure, stat: 'mean' })),
    margin: MARGIN,
    margins: SHARE_MARGINS,
    alpha: ALPHA,
    origin: 'server',
  };
}

/** The margin of a figure, as a ratio above 0. */
export function marginOf({ margins, margin }: Rules, key: FigureKey): number {
  const name = publishedName(key);
  return margins[`${name}:${key.stat}`] ?? margins[name] ?? margin;
}

/**
 * The place of a figure among the primary measures; −1 when it does not gate. The client's figures, the energy
 * and the acceptance of drafts gate, of ok requests where there is a choice. `measure` of a rule ends in `_from_due` for latencies that count from the due time.
 */
export function gatingPlace({ primary, origin }: Rules, key: FigureKey): number {
  if (
    (key.origin !== (origin ?? 'client') && !JUDGED_OF_SERVERS.has(key.measure)) ||
    (key.population === 'all' && key.stat !== 'value')
  )
    return -1;
  return primary.findIndex(({ measure, stat }) => measure === publishedName(key) && stat === key.stat);
}

const DIRECTIONS: ReadonlyMap<string, Direction> = new Map(
  [...DISTRIBUTION_MEASURES, ...CONVERSATION_MEASURES, ...JUDGED_SCALARS].map(({ measure, direction }) => [
    measure,
    direction,
  ]),
);

/** Which way is better; `none` of measures that `core/measures` does not define. */
export function directionOf(measure: string): Direction {
  return DIRECTIONS.get(measure) ?? 'none';
}

/** The names of the measures that have a direction and can be judged, as rules have them. */
function judgedMeasures(): readonly string[] {
  const distributions = [...DISTRIBUTION_MEASURES, ...CONVERSATION_MEASURES].map((measure) => ({
    ...measure,
    name: publishedName(measure),
  }));
  return [...distributions, ...JUDGED_SCALARS.map((measure) => ({ ...measure, name: measure.measure }))]
    .filter(({ direction }) => direction !== 'none')
    .map(({ name }) => name);
}

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
  if (!known.includes(measure.replace(/\{\w+=[^{}]+\}$/, '')))
    throw new RuleError(parameter, given, unknownMeasure(measure, known));
  return measure;
}

function ratioOf(percent: string, given: string): number {
  const number = Number(percent.replace(/\s*%$/, ''));
  if (percent.trim() !== '' && number > 0 && number <= 1000) return number / 100;
  throw new RuleError('margin', given, 'a percentage above 0, such as 5 or time_to_first_token:p50=3');
}
