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
}

function isFromDue({ measure, clock }: ClockedMeasure): boolean {
  return clock === 'due' && measure !== SCHEDULE_DELAY;
}

/** Its one name in metrics, rules, objectives and fingerprints: `time_to_first_token_from_due` when it counts from the due time. */
export function publishedName(of: ClockedMeasure): string {
  return isFromDue(of) ? `${of.measure}${FROM_DUE}` : of.measure;
}

/** The measure with a published name. */
export function measureOfName(name: string): ClockedMeasure {
  return name.endsWith(FROM_DUE)
    ? { measure: name.slice(0, -FROM_DUE.length), clock: 'due' }
    : { measure: name, clock: name === SCHEDULE_DELAY ? 'due' : 'sent' };
}

/** The field's short words for measures, such as `ttft`. */
export const SHORT_WORDS: readonly string[] = [...BY_SHORT_WORD.keys()];

/** The published name of a measure that was given in short, `ttft_from_due` included; any other name as it is. */
export function wholeName(given: string): string {
  const { measure } = measureOfName(given);
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
  const title = stat === 'value' ? measureTitle(of) : `${measureTitle(of)} ${statName(stat)}`;
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
