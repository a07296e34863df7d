import { createScrapeParser, ExpositionError } from '../../core/exposition/index.ts';
import type { Exposition, ParseLimits } from '../../core/exposition/index.ts';
import type { PageClient, PageFailure, PageTimes, PreferredFormat, ReceivedPage } from './page-request.ts';
import { IterationTotals, iterationRows } from './trtllm-iteration-page.ts';
import type { Target } from './targets.ts';
import { workNow_ns } from './work-clock.ts';

/** A page that could be read. */
export interface ReadPage extends PageTimes {
  readonly kind: 'read';
  readonly first_byte_ns: number;
  readonly exposition: Exposition;
  /** The page of the scrape before, byte for byte. */
  readonly repeated: boolean;
}

/** No page this time: tried again. */
export interface FailedPage extends PageTimes {
  readonly kind: 'failed';
  readonly message: string;
}

/** What is there is no page of metrics, and never was one: not tried again. */
export interface NotMetrics extends PageTimes {
  readonly kind: 'not_metrics';
  readonly message: string;
}

export type PageOutcome = ReadPage | FailedPage | NotMetrics;

/** A metrics page of more samples than this is refused as a whole. */
const LIMITS: Partial<ParseLimits> = { maxSamples: 500_000, maxLabelValueBytes: 16 * 1024 };

/**
 * Reads one target's page, scrape after scrape. Text is asked for, which every server of the field speaks, until a page has
 * a histogram without any bound but +Inf: that is how a native histogram looks in text. Then protobuf is tried at once, and
 * kept if the server speaks it. TensorRT-LLM's JSON on `/metrics` is followed to the Prometheus page
 * beside it when there is one, and read as iteration statistics when there is none.
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
  /** The rows of the last page without native histograms: pages of the same lines share them. */
  #classicLines: Int32Array | null = null;
  #busy_ns = 0;

  constructor(target: Target, client: PageClient) {
    this.#url = target.url;
    this.#client = client;
  }

  /** The address that is read: not the target's when a better one was found beside it. */
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
    if (rows === null) return this.#unusable(page, 'it answers JSON that is not metrics');
    this.#iterations = new IterationTotals();
    return this.#iterationStatistics(page, this.#iterations);
  }

  /** The page that was read, or the same in protobuf when the server has it and it says more. */
  async #withNativeHistograms(outcome: PageOutcome): Promise<PageOutcome> {
    if (outcome.kind !== 'read' || this.#protobufTried) return outcome;
    const { exposition } = outcome;
    if (exposition.columns.nameIds === this.#classicLines) return outcome;
    if (!seemsNative(exposition)) {
      this.#classicLines = exposition.columns.nameIds;
      return outcome;
    }
    const page = await this.#client.get(this.#url, 'protobuf');
    // Text now and protobuf later would make the histogram seem to begin in between: no answer is no scrape.
    if (page.kind !== 'page' && !ANSWERED.has(page.kind)) return failed(page, this.#everRead);
    this.#protobufTried = true;
    const again = page.kind === 'page' ? this.#parsed(page) : outcome;
    if (again.kind !== 'read' || again.exposition.format !== 'protobuf') return outcome;
    this.#preferred = 'protobuf';
    return again;
  }

  /** `trtllm-serve` has JSON on `/metrics` and Prometheus on `/prometheus/metrics`: looked for once, kept when found. */
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
    if (rows === null) return { ...times(page), kind: 'failed', message: 'the iteration statistics cannot be read' };
    totals.add(rows);
    return this.#parsed({ ...page, contentType: 'text/plain', bytes: totals.page() });
  }

  #parsed(page: ReceivedPage): PageOutcome {
    const { bytes, contentType } = page;
    const start_ns = workNow_ns();
    try {
      if (/html/i.test(contentType ?? '')) return this.#unusable(page, 'it answers HTML');
      const repeated = this.#last !== null && Buffer.compare(this.#last, bytes) === 0;
      const exposition = this.#parser.parse(bytes, contentType);
      this.#last = bytes;
      this.#everRead = true;
      return { ...times(page), first_byte_ns: page.first_byte_ns, kind: 'read', exposition, repeated };
    } catch (error) {
      if (!(error instanceof ExpositionError)) throw error;
      return this.#unusable(page, `its page cannot be read as metrics: ${error.message}`);
    } finally {
      this.#busy_ns += workNow_ns() - start_ns;
    }
  }

  /** Half a page, or an error page between good ones, is a failure of one scrape; without a good one it is the target's. */
  #unusable(page: ReceivedPage, message: string): FailedPage | NotMetrics {
    return { ...times(page), kind: this.#everRead ? 'failed' : 'not_metrics', message };
  }
}

const isJson = ({ contentType, bytes }: ReceivedPage): boolean =>
  /^application\/([a-z.-]+\+)?json\b/i.test(contentType ?? '') ||
  (bytes[0] === 0x5b && !/protobuf/i.test(contentType ?? ''));

/** Failures by which the server says that it will not give the page. */
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

/** A page that is too large will be so again, one that was never there too. */
function failed(page: PageFailure, everRead: boolean): FailedPage | NotMetrics {
  const lasting = page.kind === 'too_large' || page.kind === 'encoded' || (page.kind === 'refused' && !everRead);
  const kind = lasting ? 'not_metrics' : 'failed';
  return { ...times(page), kind, message: page.message };
}

function times({ sent_ns, first_byte_ns, end_ns }: PageTimes): PageTimes {
  return { sent_ns, first_byte_ns, end_ns };
}
