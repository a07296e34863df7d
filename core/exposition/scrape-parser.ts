import { formatOfContentType, parseExposition } from './parse.ts';
import { TEXT, openMetricsDialect } from './page/page-cursor.ts';
import { Dictionaries } from './page/byte-interner.ts';
import {
  parseLimits,
  type Exposition,
  type NativeHistogramSample,
  type ParseLimits,
  type ParseOptions,
} from './exposition.ts';
import { finishPage, valuesOf } from './page/finish-page.ts';
import { ParsedExposition, type PageLayout } from './page/parsed-exposition.ts';
import { parseProtobuf } from './protobuf/parse-protobuf.ts';
import { readPage } from './page/read-page.ts';

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
    const dialect = format === 'text-0.0.4' ? TEXT : openMetricsDialect(this.options?.rules ?? 'prometheus');
    if (dialect.strict) return parseExposition(bytes, contentType, this.options);

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
