import { createScrapeParser, ExpositionError } from '../../../core/exposition/index.ts';
import type { Exposition, ParseLimits } from '../../../core/exposition/index.ts';
import type { UnixInterval } from '../../../core/series/sighting.ts';
import type { PageClient, PageFailure, PageTimes, PreferredFormat, ReceivedPage } from './page-request.ts';
import { IterationTotals, iterationRows } from './trtllm-iteration-page.ts';
import type { Target } from './targets.ts';
import { workNow_ns } from '../../clock/monotonic-clock.ts';

/** A page that was parsed. */
export interface ReadPage extends PageTimes {
  readonly kind: 'read';
  readonly first_byte_ns: number;
  readonly unixSeconds: UnixInterval;
  readonly exposition: Exposition;
  /** The page is identical to the previous one, byte for byte. */
  readonly repeated: boolean;
  /** The page ended inside a line, which was not used. */
  readonly cut: boolean;
}

/** This scrape failed; the next one retries. */
export interface FailedPage extends PageTimes {
  readonly kind: 'failed';
  readonly message: string;
}

/** The response is not a metrics page and never was one: not retried. */
export interface NotMetrics extends PageTimes {
  readonly kind: 'not_metrics';
  readonly message: string;
}

export type PageOutcome = ReadPage | FailedPage | NotMetrics;

/** A metrics page with more samples than this is rejected as a whole. */
const LIMITS: Partial<ParseLimits> = { maxSamples: 500_000, maxLabelValueBytes: 16 * 1024 };

/**
 * Reads one target's page, scrape after scrape. Requests the text format, which every inference server supports, until
 * a page has a histogram whose only bound is +Inf: this is how a native histogram appears in text. Then protobuf is
 * requested immediately, and kept if the server supports it. If `/metrics` is TensorRT-LLM's JSON, the Prometheus page
 * of the same server is read when it exists; otherwise the JSON is read as iteration statistics.
 */
export class PageReader {
  readonly #client: PageClient;
  readonly #parser = createScrapeParser({ limits: LIMITS });
  #url: string;
  #last: Uint8Array | null = null;
  #everRead = false;
  #iterations: IterationTotals | null = null;
  #preferred: PreferredFormat = 'text';
  #protobufTried = false;
  /** The rows of the last page, without native histograms: pages with the same lines share them. */
  #classicLines: Int32Array | null = null;
  #busy_ns = 0;

  constructor(target: Target, client: PageClient) {
    this.#url = target.url;
    this.#client = client;
  }

  /** The address that is read: differs from the target's when the Prometheus page was found at another path. */
  get url(): string {
    return this.#url;
  }

  /** True: each reading takes rows away from other readers. */
  get drains(): boolean {
    return this.#iterations !== null;
  }

  /** Time spent in parsing. */
  get busy_ns(): number {
    return this.#busy_ns;
  }

  async read(): Promise<PageOutcome> {
    const page = await this.#client.get(this.#url, this.#preferred);
    if (page.kind !== 'page') return failed(page, this.#everRead);
    if (this.#iterations !== null) return this.#iterationStatistics(page, this.#iterations);
    if (!isJson(page)) return this.#withNativeHistograms(this.#parsed(page));
    const beside = await this.#pageBeside();
    if (beside !== null) return beside;
    const rows = iterationRows(new TextDecoder().decode(page.bytes));
    if (rows === null) return this.#unusable(page, 'the response is JSON that is not metrics');
    this.#iterations = new IterationTotals();
    return this.#iterationStatistics(page, this.#iterations);
  }

  /** The page that was read, or its protobuf form when the server supports it and it contains more. */
  async #withNativeHistograms(outcome: PageOutcome): Promise<PageOutcome> {
    if (outcome.kind !== 'read' || this.#protobufTried) return outcome;
    const { exposition } = outcome;
    if (exposition.columns.nameIds === this.#classicLines) return outcome;
    if (!seemsNative(exposition)) {
      this.#classicLines = exposition.columns.nameIds;
      return outcome;
    }
    const page = await this.#client.get(this.#url, 'protobuf');
    // Text now and protobuf later would make the histogram appear to begin in between: without a response the scrape fails.
    if (page.kind !== 'page' && !ANSWERED.has(page.kind)) return failed(page, this.#everRead);
    this.#protobufTried = true;
    const again = page.kind === 'page' ? this.#parsed(page) : outcome;
    if (again.kind !== 'read' || again.exposition.format !== 'protobuf') return outcome;
    this.#preferred = 'protobuf';
    return again;
  }

  /**
   * `trtllm-serve` serves JSON on `/metrics` and Prometheus' format on `/prometheus/metrics`: tried once, kept when it
   * exists.
   */
  async #pageBeside(): Promise<PageOutcome | null> {
    const url = new URL(this.#url);
    if (this.#everRead || !url.pathname.endsWith('/metrics') || url.pathname.endsWith('/prometheus/metrics'))
      return null;
    url.pathname = url.pathname.replace(/\/metrics$/, '/prometheus/metrics');
    const page = await this.#client.get(url.href);
    if (page.kind !== 'page' || isJson(page)) return null;
    const outcome = this.#parsed(page);
    if (outcome.kind !== 'read' || outcome.exposition.columns.count === 0) return null;
    this.#url = url.href;
    return outcome;
  }

  #iterationStatistics(page: ReceivedPage, totals: IterationTotals): PageOutcome {
    const rows = iterationRows(new TextDecoder().decode(page.bytes));
    if (rows === null) return { ...times(page), kind: 'failed', message: 'the iteration statistics cannot be parsed' };
    totals.add(rows);
    return this.#parsed({ ...page, contentType: 'text/plain', bytes: totals.page() });
  }

  #parsed(page: ReceivedPage): PageOutcome {
    const { bytes, contentType } = page;
    const start_ns = workNow_ns();
    try {
      if (/html/i.test(contentType ?? '')) return this.#unusable(page, 'the response is HTML');
      const whole = wholeLines(page);
      if (whole === null) {
        // What is no beginning of a page either is not metrics.
        if (bytes[0] !== HASH) this.#parser.parse(bytes, 'text/plain');
        return { ...times(page), kind: 'failed', message: CUT };
      }
      const repeated = this.#last !== null && Buffer.compare(this.#last, bytes) === 0;
      const exposition = this.#parser.parse(whole, contentType);
      const cut = whole.length < bytes.length;
      if (cut && exposition.columns.count === 0) return { ...times(page), kind: 'failed', message: CUT };
      this.#last = bytes;
      this.#everRead = true;
      const { first_byte_ns, unixSeconds } = page;
      return { ...times(page), first_byte_ns, unixSeconds, kind: 'read', exposition, repeated, cut };
    } catch (error) {
      if (!(error instanceof ExpositionError)) throw error;
      return this.#unusable(page, `the page cannot be parsed as metrics: ${error.message}`);
    } finally {
      this.#busy_ns += workNow_ns() - start_ns;
    }
  }

  /**
   * After a good page, a truncated page or an error page fails only that scrape; before any good page it rejects the
   * target.
   */
  #unusable(page: ReceivedPage, message: string): FailedPage | NotMetrics {
    return { ...times(page), kind: this.#everRead ? 'failed' : 'not_metrics', message };
  }
}

const isJson = ({ contentType, bytes }: ReceivedPage): boolean =>
  /^application\/([a-z.-]+\+)?json\b/i.test(contentType ?? '') ||
  (bytes[0] === 0x5b && !/protobuf/i.test(contentType ?? ''));

const HASH = 0x23;
const CUT = 'the page is cut off: its last line does not end with a newline, or "# EOF" is missing';

/**
 * The page without a last line that has no newline: its number may be truncated. Null: there is no other line, or the format
 * shows that the page is truncated.
 */
function wholeLines({ contentType, bytes }: ReceivedPage): Uint8Array | null {
  if (/protobuf/i.test(contentType ?? '')) return bytes;
  if (/openmetrics/i.test(contentType ?? ''))
    return /# EOF\n?$/.test(new TextDecoder().decode(bytes.subarray(-6))) ? bytes : null;
  const end = bytes.lastIndexOf(0x0a) + 1;
  return end === 0 && bytes.length > 0 ? null : bytes.subarray(0, end);
}

/** Failures that mean the server will not serve the page. */
const ANSWERED: ReadonlySet<PageFailure['kind']> = new Set(['status', 'refused', 'encoded', 'too_large']);

/** Whether a text page has a family of histograms none of which has a finite bound. */
function seemsNative({ format, columns, families }: Exposition): boolean {
  if (format === 'protobuf') return false;
  const isFinite = (row: number): boolean => {
    const bound = columns.boundIds[row] ?? -1;
    return bound >= 0 && columns.bounds[bound] !== '+Inf';
  };
  return families.some(({ type, rows }) => type === 'histogram' && rows.length > 0 && !rows.some(isFinite));
}

/** A page that is too large, or that never existed, stays so. */
function failed(page: PageFailure, everRead: boolean): FailedPage | NotMetrics {
  const lasting = page.kind === 'too_large' || page.kind === 'encoded' || (page.kind === 'refused' && !everRead);
  const kind = lasting ? 'not_metrics' : 'failed';
  return { ...times(page), kind, message: page.message };
}

function times({ sent_ns, first_byte_ns, end_ns }: PageTimes): PageTimes {
  return { sent_ns, first_byte_ns, end_ns };
}
