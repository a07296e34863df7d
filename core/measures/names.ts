import type { Clock } from '../run/statistic.ts';

/** Where the name of a measure with spaces for its underscores is not how people write it. */
const TITLES: Readonly<Record<string, string>> = {
  inter_token_latency: 'inter-token latency',
  inter_chunk_latency: 'inter-chunk latency',
  e2e_output_token_throughput: 'end-to-end output token throughput',
  http_req_dns_lookup: 'HTTP request DNS lookup',
  http_req_tls_handshaking: 'HTTP request TLS handshaking',
};

/** A measure for people, as in the middle of a sentence: `time to first token`. Files and options have its name. */
export function measureTitle({ measure, clock }: { readonly measure: string; readonly clock: Clock }): string {
  const title = TITLES[measure] ?? measure.replace(/^http_req_/, 'HTTP request ').replaceAll('_', ' ');
  return clock === 'due' && measure !== 'schedule_delay' ? `${title} from the due time` : title;
}

/** What names a statistic of a measure. */
export interface TitledStatistic {
  readonly measure: string;
  readonly clock: Clock;
  /** `value` for a measure that is one number. */
  readonly stat: string;
  readonly population?: 'ok' | 'all';
  readonly origin?: 'client' | 'server';
}

/** A statistic for people: `time to first token p90`, with what it is of where that is not the usual. */
export function statisticTitle({ stat, population = 'ok', origin = 'client', ...of }: TitledStatistic): string {
  const title = stat === 'value' ? measureTitle(of) : `${measureTitle(of)} ${stat.replace('_', '.')}`;
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
