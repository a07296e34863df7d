import type { NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import { isObject } from '../reading/fields.ts';
import { PageClient, type PageFailure, type PageLimits } from '../../servers/scrape/page-request.ts';
import type { PageAccess } from '../../servers/scrape/targets.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import { ImportRefusal } from '../import-notes.ts';
import { numberOf, recordedHistogram } from './recorded-histogram.ts';

/** The samples of one series as they were scraped, oldest first. */
export interface RecordedSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Unix time in seconds, and the value. */
  readonly samples: readonly (readonly [seconds: number, value: number])[];
  /** The same of native histograms. */
  readonly histograms: readonly (readonly [seconds: number, histogram: NativeHistogram])[];
}

/** Samples after a moment, up to and including another; Unix time in seconds. */
export interface RecordedStretch {
  readonly series: readonly RecordedSeries[];
  /** Series with histograms that are not understood. */
  readonly unread: number;
}

const LIMITS: PageLimits = {
  connectTimeoutSeconds: 10,
  readTimeoutSeconds: 120,
  totalTimeoutSeconds: 180,
  maxBytes: 64 * 1024 * 1024,
  readsFailures: true,
};
/** Of one query; halved when a response is too large, or the query passes a limit of the server. */
const STRETCH_SECONDS = 600;
const MIN_STRETCH_SECONDS = 5;
const MAX_REASON = 200;
/** Limits on the samples, the bytes and the time of a query, as Prometheus, Thanos, Mimir and VictoriaMetrics report them. */
const TOO_MUCH = /^HTTP (422|503|504)$/;

/** The HTTP API of Prometheus, and of what answers its queries: Thanos, Mimir, VictoriaMetrics. */
export class PrometheusSeries {
  readonly #client: PageClient;
  readonly #api: string;

  /** `url`: the address of the server, with the path before `/api/v1` if there is one. */
  constructor(url: string, access: PageAccess) {
    this.#client = new PageClient(LIMITS, () => performance.now() * 1e6, access);
    this.#api = `${url.replace(/\/+$/, '')}/api/v1`;
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** The TYPE of each family, as far as the server has metadata; empty if it does not answer. */
  async types(): Promise<ReadonlyMap<string, string>> {
    const answered = await this.#client.get(`${this.#api}/metadata`);
    if (answered.kind !== 'page') return new Map();
    const data = responseOf(answered.bytes)?.['data'];
    if (!isObject(data)) return new Map();
    return new Map(
      Object.entries(data).flatMap(([name, entries]) => {
        const first: unknown = Array.isArray(entries) ? entries[0] : null;
        return isObject(first) && typeof first['type'] === 'string' ? [[name, first['type']]] : [];
      }),
    );
  }

  /**
   * All samples of the series that a selector matches, after `from` and up to `to`, in stretches of time. Raw samples, not
   * steps: the range of a selector. Throws an `ImportRefusal` with the reason that the server gives.
   */
  async *stretches(selector: string, from: number, to: number, signal: AbortSignal): AsyncGenerator<RecordedStretch> {
    let length = STRETCH_SECONDS;
    for (let start = from; start < to;) {
      signal.throwIfAborted();
      const end = Math.min(to, start + length);
      const query = `${selector}[${Math.round((end - start) * 1000)}ms]`;
      const url = `${this.#api}/query?query=${encodeURIComponent(query)}&time=${end.toFixed(3)}`;
      const answered = await this.#client.get(url);
      if (answered.kind !== 'page') {
        const reason = reasonOf(answered);
        // Cortex has its limit on the range as 400.
        const isTooMuch =
          answered.kind === 'too_large' || TOO_MUCH.test(answered.message) || reason.includes('exceeds the limit');
        if (isTooMuch && length / 2 >= MIN_STRETCH_SECONDS) {
          length /= 2;
          continue;
        }
        const hint = answered.message === 'HTTP 400' ? `: it does not accept the selector ${selector}` : '';
        throw new ImportRefusal(`${publicUrl(this.#api)}/query: ${answered.message}${hint}${reason}`);
      }
      yield stretchOf(dataOf(answered.bytes), start);
      start = end;
    }
  }
}

/** What the server says of a failure; empty: nothing. */
function reasonOf({ bytes = new Uint8Array() }: PageFailure): string {
  const text = new TextDecoder().decode(bytes).trim();
  const reason = errorOf(responseOf(bytes)) ?? (text.startsWith('<') ? '' : text);
  // Errors of Go end with the cause.
  const end = reason.length > MAX_REASON ? `…${reason.slice(1 - MAX_REASON)}` : reason;
  return end === '' ? '' : `: ${messageExcerpt(end)}`;
}

/** A response of this API; null: it is none. */
function responseOf(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const response: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(response) ? response : null;
  } catch {
    return null;
  }
}

const errorOf = (response: Record<string, unknown> | null): string | null =>
  typeof response?.['error'] === 'string' ? response['error'] : null;

/** `data` of a response. Throws an `ImportRefusal` for what is no complete response of this API. */
function dataOf(bytes: Uint8Array): unknown {
  const response = responseOf(bytes);
  if (response === null)
    throw new ImportRefusal('the response is not JSON: the address must be that of a Prometheus, before /api/v1');
  const { status, data, warnings, isPartial } = response;
  if (status !== 'success')
    throw new ImportRefusal(`the query failed: ${messageExcerpt(errorOf(response) ?? 'no status')}`);
  // Warnings are of Thanos and of remote read, `isPartial` of a cluster of VictoriaMetrics.
  const warning = Array.isArray(warnings) ? warnings.join('; ') : '';
  if (warning !== '' || isPartial === true)
    throw new ImportRefusal(`the response is partial: ${messageExcerpt(warning || 'a storage node does not answer')}`);
  return data;
}

/** Prometheus 2 includes the first moment of a range, 3 does not. */
function stretchOf(data: unknown, after: number): RecordedStretch {
  const result = isObject(data) && Array.isArray(data['result']) ? data['result'] : [];
  let unread = 0;
  const series = result.flatMap((each: unknown): RecordedSeries[] => {
    if (!isObject(each) || !isObject(each['metric'])) return [];
    const samples = pairsAfter(each['values'], after).map(([at, value]) => [at, numberOf(value)] as const);
    const listed = pairsAfter(each['histograms'], after);
    const histograms = listed.flatMap(([at, value]) => {
      const histogram = recordedHistogram(value);
      return histogram === null ? [] : [[at, histogram] as const];
    });
    if (histograms.length < listed.length) unread += 1;
    if (samples.length === 0 && histograms.length === 0) return [];
    return [{ labels: each['metric'] as Record<string, string>, samples, histograms }];
  });
  return { series, unread };
}

/** Moments and what stands beside them, of those later than a moment. */
function pairsAfter(list: unknown, after: number): readonly (readonly [number, unknown])[] {
  return (Array.isArray(list) ? list : []).flatMap((pair: unknown) =>
    Array.isArray(pair) && typeof pair[0] === 'number' && pair[0] > after ? [[pair[0], pair[1]] as const] : [],
  );
}
