import {
  ExpositionError,
  quoteForMessage,
  parseLimits,
  type ExpositionFormat,
  type Exposition,
  type ParseOptions,
  type NativeHistogramSample,
  type ParseLimits,
} from './exposition.ts';
import { OPENMETRICS, TEXT, type Dialect } from './page/page-cursor.ts';
import { ParsedExposition, type PageLayout } from './page/parsed-exposition.ts';
import { readPage, finishPage, valuesOf } from './page/read-page.ts';
import { parseProtobuf } from './protobuf/parse-protobuf.ts';
import { Dictionaries } from './page/byte-interner.ts';

interface NegotiatedFormat {
  readonly format: ExpositionFormat;
  /** Why text was assumed; null when the content type specifies it. */
  readonly fallback: string | null;
}

const PROTOBUF = /^application\/vnd\.google\.protobuf *(;|$)/i;
const MESSAGE = 'io.prometheus.client.metricfamily';

/**
 * The format that a Content-Type names. `text/plain` is the text format whatever its version (vLLM reports 1.0.0,
 * Triton none). Protobuf of another message or encoding is rejected. A missing or unknown type is read as text, like
 * Prometheus with `fallback_scrape_protocol: PrometheusText0.0.4`.
 */
function formatOfContentType(contentType: string | null | undefined): NegotiatedFormat {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/openmetrics-text') return { format: 'openmetrics-1.0.0', fallback: null };
  if (PROTOBUF.test(contentType ?? '')) return protobuf(contentType ?? '');
  if (type === 'text/plain') return { format: 'text-0.0.4', fallback: null };
  const fallback = type === '' ? 'no content type' : `unknown content type ${quoteForMessage(type)}`;
  return { format: 'text-0.0.4', fallback };
}

/** Only length-delimited messages of the type that Prometheus defines are a page of metrics. */
function protobuf(contentType: string): NegotiatedFormat {
  const parameters = new Map(
    contentType.split(';').map((part): [string, string] => {
      const [name = '', value = ''] = part.split('=', 2);
      return [
        name.trim().toLowerCase(),
        value
          .trim()
          .toLowerCase()
          .replace(/^"(.*)"$/, '$1'),
      ];
    }),
  );
  const message = parameters.get('proto') ?? MESSAGE;
  const encoding = parameters.get('encoding') ?? 'delimited';
  if (message !== MESSAGE) throw new ExpositionError(0, 0, `protobuf messages of type ${quoteForMessage(message)}`);
  if (encoding !== 'delimited')
    throw new ExpositionError(0, 0, `protobuf in the encoding ${quoteForMessage(encoding)}`);
  return { format: 'protobuf', fallback: null };
}

/**
 * Parses a page of the text format 0.0.4 with the tolerance of Prometheus' own parser: missing HELP and TYPE, blank
 * lines, blanks between parts, no final line feed, families in any order. Carriage returns are rejected, as in
 * Prometheus. Throws ExpositionError; an invalid page returns nothing.
 */
export function parseText(bytes: Uint8Array, options?: ParseOptions): Exposition {
  return parseDialect(bytes, TEXT, null, options);
}

/**
 * Parses the body of a scrape in the format that its content type names; see `Exposition.formatFallback` for what was
 * assumed. OpenMetrics is read as Prometheus does: what breaks its syntax, `# EOF` or UNIT is rejected, and semantics are
 * not checked. Throws ExpositionError.
 */
export function parseExposition(
  bytes: Uint8Array,
  contentType: string | null | undefined,
  options?: ParseOptions,
): Exposition {
  const { format, fallback } = formatOfContentType(contentType);
  if (format === 'protobuf') return parseProtobuf(bytes, options);
  const dialect = format === 'text-0.0.4' ? TEXT : OPENMETRICS;
  return parseDialect(bytes, dialect, fallback, options);
}

function parseDialect(
  bytes: Uint8Array,
  dialect: Dialect,
  fallback: string | null,
  options: ParseOptions | undefined,
): Exposition {
  const page = readPage(bytes, dialect, parseLimits(options));
  const { layout, values } = finishPage(page);
  return new ParsedExposition(layout, values, fallback);
}

/** Parses the pages of one target, scrape after scrape. */
export interface ScrapeParser {
  /**
   * As `parseExposition`, with the same result. Pages with the same lines but for the values share their columns of ids.
   * `natives`: histograms beside a page of the text format, which cannot have them.
   */
  parse(
    bytes: Uint8Array,
    contentType: string | null | undefined,
    natives?: readonly NativeHistogramSample[],
  ): Exposition;
}

/** A parser that keeps the names and labels of one target, and which lines its last page had. */
export function createScrapeParser(options?: ParseOptions): ScrapeParser {
  return new TargetParser(options);
}

class TargetParser implements ScrapeParser {
  private readonly options: ParseOptions | undefined;
  private readonly limits: ParseLimits;
  private dictionaries = new Dictionaries();
  /** Of the last valid page; null if its series are not distinct without their timestamps. */
  private layout: PageLayout | null = null;
  private rowsOfLastPage = 0;

  constructor(options: ParseOptions | undefined) {
    this.options = options;
    this.limits = parseLimits(options);
  }

  parse(
    bytes: Uint8Array,
    contentType: string | null | undefined,
    natives: readonly NativeHistogramSample[] = [],
  ): Exposition {
    const { format, fallback } = formatOfContentType(contentType);
    if (format === 'protobuf') return parseProtobuf(bytes, this.options);
    const dialect = format === 'text-0.0.4' ? TEXT : OPENMETRICS;
    this.forgetOldEntries();
    const page = readPage(bytes, dialect, this.limits, this.dictionaries);
    this.rowsOfLastPage = page.rows.count;
    if (this.layout?.isOf(page)) return new ParsedExposition(this.layout, valuesOf(page), fallback, natives);
    const { layout, values } = finishPage(page);
    const isDistinct = layout.duplicates.count === 0 && values.timestampsSeconds === null;
    this.layout = isDistinct ? layout : null;
    return new ParsedExposition(layout, values, fallback, natives);
  }

  /** Label values that never return would fill the dictionaries: they are then replaced. */
  private forgetOldEntries(): void {
    if (this.dictionaries.size <= 4 * this.rowsOfLastPage + 10_000) return;
    this.dictionaries = new Dictionaries();
    this.layout = null;
  }
}
