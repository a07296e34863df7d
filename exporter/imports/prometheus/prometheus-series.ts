import {
  type NativeHistogram,
  CUSTOM_BUCKETS_SCHEMA,
  exponentialBound,
  MAX_SCHEMA,
  MIN_SCHEMA,
  type NativeBucket,
} from '../../../core/histogram/native-histogram.ts';
import { isObject } from '../reading/fields.ts';
import { PageClient, type PageFailure, type PageLimits } from '../../servers/scrape/page-request.ts';
import type { PageAccess } from '../../servers/scrape/targets.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import { ImportRefusal } from '../import-notes.ts';

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

/** Which ends of a bucket belong to it, as Prometheus writes them: of positive or custom, negative, and zero buckets. */
const OPEN_LEFT = 0;
const OPEN_RIGHT = 1;
const CLOSED = 3;

interface RecordedBucket {
  readonly rule: number;
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/**
 * A native histogram as the query API of Prometheus has it: count, sum and the buckets that are not empty, with their ends and
 * without the schema. If the ends are those of no exponential schema, they are the known ones of custom buckets. Null: it is none.
 */
export function recordedHistogram(value: unknown): NativeHistogram | null {
  if (!isObject(value)) return null;
  const { count: countText, sum: sumText, buckets: listed = [] } = value;
  const [count, sum] = [numberOf(countText), numberOf(sumText)];
  if (!Array.isArray(listed) || Number.isNaN(count)) return null;
  const buckets = listed.flatMap((each: unknown) => bucketOf(each) ?? []);
  if (buckets.length < listed.length) return null;
  const zero = buckets.find(({ rule }) => rule === CLOSED);
  const threshold = zero?.high ?? 0;
  const common = { count, sum, zeroThreshold: threshold, zeroCount: zero?.count ?? 0 };
  const sides = buckets.filter((bucket) => bucket !== zero);
  const schema = schemaOf(sides, threshold);
  if (schema !== null) {
    const side = (rule: number): readonly NativeBucket[] =>
      sides.filter((bucket) => bucket.rule === rule).map((bucket) => atSchema(bucket, schema));
    const byIndex = (a: NativeBucket, b: NativeBucket): number => a.index - b.index;
    return {
      ...{ ...common, schema, customBounds: null },
      positive: side(OPEN_LEFT).toSorted(byIndex),
      negative: side(OPEN_RIGHT).toSorted(byIndex),
    };
  }
  if (zero !== undefined || sides.some(({ rule }) => rule !== OPEN_LEFT)) return null;
  const ends = new Set(sides.flatMap(({ low, high }) => [low, high]).filter(Number.isFinite));
  const customBounds = [...ends].sort((a, b) => a - b);
  const customIndex = (high: number): number => (high === Infinity ? customBounds.length : customBounds.indexOf(high));
  const positive = sides.map(({ low, high, count: own }) => ({ index: customIndex(high), low, high, count: own }));
  return { ...common, schema: CUSTOM_BUCKETS_SCHEMA, positive, negative: [], customBounds };
}

function bucketOf(value: unknown): RecordedBucket | null {
  if (!Array.isArray(value) || typeof value[0] !== 'number') return null;
  const [low, high, count] = [numberOf(value[1]), numberOf(value[2]), numberOf(value[3])];
  return low <= high && count >= 0 ? { rule: value[0], low, high, count } : null;
}

/** The finest schema in which each bucket has its place; one beside the zero bucket may begin at its end. Null: none. */
function schemaOf(buckets: readonly RecordedBucket[], zeroThreshold: number): number | null {
  for (let schema = MAX_SCHEMA; schema >= MIN_SCHEMA; schema--) {
    if (buckets.every((bucket) => fits(bucket, schema, zeroThreshold))) return schema;
  }
  return null;
}

function fits(bucket: RecordedBucket, schema: number, zeroThreshold: number): boolean {
  if (bucket.rule !== OPEN_LEFT && bucket.rule !== OPEN_RIGHT) return false;
  const [near, far] = distances(bucket);
  if (!(near >= 0)) return false;
  const index = indexOf(far, schema);
  const edge = exponentialBound(index - 1, schema);
  return exponentialBound(index, schema) === far && (edge === near || (near === zeroThreshold && edge < near));
}

function atSchema(bucket: RecordedBucket, schema: number): NativeBucket {
  const { low, high, count } = bucket;
  return { index: indexOf(distances(bucket)[1], schema), low, high, count };
}

/** The ends of a bucket by their distance from 0. */
const distances = ({ rule, low, high }: RecordedBucket): readonly [near: number, far: number] =>
  rule === OPEN_RIGHT ? [-high, -low] : [low, high];

/** The place in a schema of the bucket that ends there, if one does. */
function indexOf(far: number, schema: number): number {
  if (far === Infinity) return 1024 * 2 ** schema + 1;
  if (far === Number.MAX_VALUE) return 1024 * 2 ** schema;
  return Math.round(Math.log2(far) * 2 ** schema);
}

/** A number as this API writes it; NaN also of what is none. */
function numberOf(text: unknown): number {
  if (typeof text !== 'string') return NaN;
  return text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : text.trim() === '' ? NaN : Number(text);
}
