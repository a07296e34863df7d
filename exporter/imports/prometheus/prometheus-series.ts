import { isObject } from '../reading/fields.ts';
import { PageClient, type PageLimits } from '../../servers/scrape/page-request.ts';
import type { PageAccess } from '../../servers/scrape/page-access.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import { ImportRefusal } from '../import-notes.ts';

/** The samples of one series as they were scraped, oldest first. */
export interface RecordedSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Unix time in seconds, and the value. */
  readonly samples: readonly (readonly [seconds: number, value: number])[];
}

/** Samples after a moment, up to and including another; Unix time in seconds. */
export interface RecordedStretch {
  readonly series: readonly RecordedSeries[];
  /** Series with native histograms, which are left out. */
  readonly native: number;
}

const LIMITS: PageLimits = {
  connectTimeoutSeconds: 10,
  readTimeoutSeconds: 120,
  totalTimeoutSeconds: 180,
  maxBytes: 64 * 1024 * 1024,
};
/** Of one query; halved when a response is too large. */
const STRETCH_SECONDS = 600;
const MIN_STRETCH_SECONDS = 5;

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
    const data = dataOf(answered.bytes);
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
      if (answered.kind === 'too_large' && length / 2 >= MIN_STRETCH_SECONDS) {
        length /= 2;
        continue;
      }
      if (answered.kind !== 'page') {
        const hint = answered.message.includes('400') ? `: it does not accept the selector ${selector}` : '';
        throw new ImportRefusal(`${publicUrl(this.#api)}/query: ${answered.message}${hint}`);
      }
      yield stretchOf(dataOf(answered.bytes), start);
      start = end;
    }
  }
}

/** `data` of a response. Throws an `ImportRefusal` for what is no response of this API. */
function dataOf(bytes: Uint8Array): unknown {
  let response: unknown;
  try {
    response = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new ImportRefusal('the response is not JSON: the address must be that of a Prometheus, before /api/v1');
  }
  if (isObject(response) && response['status'] === 'success') return response['data'];
  const error = isObject(response) && typeof response['error'] === 'string' ? response['error'] : 'no status';
  throw new ImportRefusal(`the query failed: ${messageExcerpt(error)}`);
}

/** Prometheus 2 includes the first moment of a range, 3 does not. */
function stretchOf(data: unknown, after: number): RecordedStretch {
  const result = isObject(data) && Array.isArray(data['result']) ? data['result'] : [];
  let native = 0;
  const series = result.flatMap((each: unknown): RecordedSeries[] => {
    if (!isObject(each) || !isObject(each['metric'])) return [];
    if (Array.isArray(each['histograms'])) native += 1;
    const values = Array.isArray(each['values']) ? each['values'] : [];
    const samples = values.flatMap((pair: unknown) => {
      if (!Array.isArray(pair) || typeof pair[0] !== 'number' || pair[0] <= after) return [];
      return [[pair[0], numberOf(String(pair[1]))] as const];
    });
    return samples.length === 0 ? [] : [{ labels: each['metric'] as Record<string, string>, samples }];
  });
  return { series, native };
}

const numberOf = (text: string): number => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text));
