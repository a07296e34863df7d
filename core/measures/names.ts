import type { Clock } from '../run/statistic.ts';

interface Names {
  /** In the middle of a sentence, where that is not the name with spaces. */
  readonly title?: string;
  /** The field's short word, as vLLM, SGLang and AIPerf print it. */
  readonly short?: string;
  /** Other short words for the same. */
  readonly also?: readonly string[];
}

/** What people call the measures. */
const NAMES: ReadonlyMap<string, Names> = new Map(
  Object.entries<Names>({
    time_to_first_token: { short: 'TTFT' },
    time_to_first_output_token: { short: 'TTFO' },
    time_to_second_token: { short: 'TTST' },
    inter_token_latency: { title: 'inter-token latency', short: 'ITL', also: ['tpot'] },
    inter_chunk_latency: { title: 'inter-chunk latency', short: 'ICL' },
    request_latency: { short: 'E2E', also: ['e2el', 'e2e_latency'] },
    input_sequence_length: { short: 'ISL' },
    output_sequence_length: { short: 'OSL' },
    e2e_output_token_throughput: { title: 'end-to-end output token throughput' },
    http_req_dns_lookup: { title: 'HTTP request DNS lookup' },
    http_req_tls_handshaking: { title: 'HTTP request TLS handshaking' },
  }),
);

const BY_SHORT_WORD: ReadonlyMap<string, string> = new Map(
  [...NAMES].flatMap(([name, { short, also = [] }]) =>
    [...(short === undefined ? [] : [short.toLowerCase()]), ...also].map((word) => [word, name] as const),
  ),
);

const FROM_DUE = '_from_due';
/** Counts from the due time by its definition, so that its name does not contain it. */
const SCHEDULE_DELAY = 'schedule_delay';

/** A measure and the instant that it counts from, as definitions and results have them. */
export interface ClockedMeasure {
  readonly measure: string;
  readonly clock: Clock;
  /** Such as `turn=first`; absent: of all requests. */
  readonly breakdown?: string | undefined;
}

function isFromDue({ measure, clock }: ClockedMeasure): boolean {
  return clock === 'due' && measure !== SCHEDULE_DELAY;
}

/**
 * Its one name in metrics, rules, objectives and fingerprints: `time_to_first_token_from_due` when it counts from the due
 * time, `time_to_first_token{turn=first}` when it is of some of the requests.
 */
export function publishedName(of: ClockedMeasure): string {
  const name = isFromDue(of) ? `${of.measure}${FROM_DUE}` : of.measure;
  return of.breakdown === undefined ? name : `${name}{${of.breakdown}}`;
}

/** The measure with a published name. */
export function measureOfName(name: string): ClockedMeasure {
  const [, whole, breakdown] = /^(.*)\{(.*)\}$/.exec(name) ?? [];
  if (whole !== undefined) return { ...measureOfName(whole), breakdown };
  return name.endsWith(FROM_DUE)
    ? { measure: name.slice(0, -FROM_DUE.length), clock: 'due' }
    : { measure: name, clock: name === SCHEDULE_DELAY ? 'due' : 'sent' };
}

/** The field's short words for measures, such as `ttft`. */
export const SHORT_WORDS: readonly string[] = [...BY_SHORT_WORD.keys()];

/** The published name of a measure that was given in short, `ttft_from_due` included; any other name as it is. */
export function wholeName(given: string): string {
  const [measure = ''] = measureOfName(given).measure.split('{');
  return `${BY_SHORT_WORD.get(measure) ?? measure}${given.slice(measure.length)}`;
}

/** A measure for people, as in the middle of a sentence: `time to first token`. */
export function measureTitle(of: ClockedMeasure): string {
  return titleOf(of, '');
}

/** The same with the field's short word: `time to first token (TTFT)`. */
export function longTitle(of: ClockedMeasure): string {
  const short = NAMES.get(of.measure)?.short;
  return titleOf(of, short === undefined ? '' : ` (${short})`);
}

function titleOf(of: ClockedMeasure, short: string): string {
  const { measure } = of;
  const title = NAMES.get(measure)?.title ?? measure.replace(/^http_req_/, 'HTTP request ').replaceAll('_', ' ');
  return `${title}${short}${isFromDue(of) ? ' from the due time' : ''}`;
}

/** Of which requests a figure is: ` of first turns`; empty: of all. */
function breakdownText({ breakdown }: ClockedMeasure): string {
  const [by, value] = breakdown?.split('=') ?? [];
  if (by === undefined || value === undefined) return '';
  return by === 'turn' && !/\d/.test(value) ? ` of ${value} turns` : ` of ${by} ${value}`;
}

/** The field's short word where there is one, for columns: `TTFT`, `TTFT p99`. */
export function shortTitle(measure: string, stat: string | null = null): string {
  const title = NAMES.get(measure)?.short ?? measureTitle({ measure, clock: 'sent' });
  return stat === null ? title : `${title} ${statName(stat)}`;
}

/** `p99.9` for `p99_9`. */
export function statName(stat: string): string {
  return stat.replace('_', '.');
}

/** What names a statistic of a measure. */
export interface TitledStatistic extends ClockedMeasure {
  /** `value` for a measure that is one number. */
  readonly stat: string;
  readonly population?: 'ok' | 'all';
  readonly origin?: 'client' | 'server';
}

/** A statistic for people: `time to first token p90`, with what it is of where that is not the usual. */
export function statisticTitle({ stat, population = 'ok', origin = 'client', ...of }: TitledStatistic): string {
  const title = `${measureTitle(of)}${stat === 'value' ? '' : ` ${statName(stat)}`}${breakdownText(of)}`;
  const notes = [
    ...(origin === 'server' ? ['reported by the server'] : []),
    ...(population === 'all' && stat !== 'value' ? ['failed requests as infinitely slow'] : []),
  ];
  return notes.length === 0 ? title : `${title} (${notes.join('; ')})`;
}

/** The same at the beginning of a sentence. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a server's family becomes when it is published for one run. */
export interface ServerFamily {
  /** Name in Prometheus: base units, no colon (those are for recording rules), no type in it, `_total` for counters. */
  readonly name: string;
  /** The unit of the published values; null when nothing reports it. */
  readonly unit: string | null;
  /** The exposed value times this is the published one. */
  readonly factor: number;
}

const PREFIX = 'llmbench_server_';

const SCALES: readonly (readonly [base: string, scales: Readonly<Record<string, number>>])[] = [
  ['seconds', { milliseconds: 1e-3, microseconds: 1e-6, nanoseconds: 1e-9, minutes: 60, hours: 3600 }],
  [
    'bytes',
    { kilobytes: 1e3, megabytes: 1e6, gigabytes: 1e9, kibibytes: 2 ** 10, mebibytes: 2 ** 20, gibibytes: 2 ** 30 },
  ],
  ['ratio', { percent: 1e-2, permille: 1e-3 }],
  ['hertz', { megahertz: 1e6, gigahertz: 1e9 }],
  ['watts', { milliwatts: 1e-3 }],
  ['joules', { millijoules: 1e-3 }],
];

/** Units that are not base units, with the base unit and what an amount is multiplied by; rates of them as well. */
const BASE_UNITS: ReadonlyMap<string, readonly [unit: string, factor: number]> = new Map(
  SCALES.flatMap(([base, scales]) =>
    Object.entries(scales).flatMap(([unit, factor]) => [
      [unit, [base, factor]] as const,
      [`${unit}_per_second`, [`${base}_per_second`, factor]] as const,
    ]),
  ),
);

/** How a name states such a unit, or a short base unit. */
const UNIT_SUFFIX =
  /_(((s|ms|us|ns|[kmgt]i?b|[kmg]?hz|mw|mj|percent|perc|permille)(_(s|per_second))?)|([a-z]*(seconds|bytes|minutes|hours)(_per_second)?))$/i;
const SHORT_SECONDS = /(_per)?_s$/;
/** Prometheus keeps these endings for the samples of histograms, and `_info` for facts. */
const KEPT_ENDING = /_(count|sum|bucket|info)$/;
const TYPE_WORD = /^(counter|gauge|histogram|summary)$/i;

/** Name and unit of a family under the rules of Prometheus, whatever its server calls it. */
export function serverFamily(
  family: string,
  type: 'counter' | 'gauge' | 'histogram',
  exposed: string | null,
): ServerFamily {
  const [unit, factor] = BASE_UNITS.get(exposed ?? '') ?? [exposed, 1];
  const legal = family.replace(/[^0-9A-Za-z_]/g, '_').replace(/_total$/, '');
  const words = legal.split('_').filter((word) => !TYPE_WORD.test(word));
  const untyped = words.join('_');
  const named =
    factor === 1
      ? untyped.replace(SHORT_SECONDS, (_, per?: string) => (per === undefined ? '_seconds' : '_per_second'))
      : `${untyped.replace(UNIT_SUFFIX, '')}_${unit}`;
  const plain = named.replace(KEPT_ENDING, '_$1_value');
  return { name: `${PREFIX}${plain}${type === 'counter' ? '_total' : ''}`, unit, factor };
}
