import { formatOfContentType } from './content-type.ts';
import { TEXT, openMetricsDialect } from './page/dialect.ts';
import type { Dialect } from './page/dialect.ts';
import { Dictionaries } from './page/dictionaries.ts';
import type { Exposition } from './exposition.ts';
import { finishPage } from './page/finish-page.ts';
import type { PageLayout } from './page/page-layout.ts';
import { parseExposition } from './parse.ts';
import { parseLimits } from './parse-options.ts';
import type { ParseLimits, ParseOptions } from './parse-options.ts';
import { ParsedExposition } from './page/parsed-exposition.ts';
import { readPage } from './page/read-page.ts';
import { readPageAgain } from './page/read-page-again.ts';
import { ReferencePage } from './page/reference-page.ts';

/** Parses the pages of one target, scrape after scrape. */
export interface ScrapeParser {
  /** As `parseExposition`, with the same result; fast when the page has the lines of the one before. */
  parse(bytes: Uint8Array, contentType: string | null | undefined): Exposition;
}

/** A parser that keeps what it knows of one target's lines. It holds a copy of the last page whose lines were new. */
export function createScrapeParser(options?: ParseOptions): ScrapeParser {
  return new TargetParser(options);
}

/** What the target showed last; replaced as a whole, and only by a page without faults. */
interface Memory {
  readonly dialect: Dialect;
  readonly reference: ReferencePage;
  readonly layout: PageLayout;
  /** Neither duplicates nor timestamps nor exemplars: a page of the same keys has the same layout. */
  readonly layoutHolds: boolean;
}

class TargetParser implements ScrapeParser {
  private readonly options: ParseOptions | undefined;
  private readonly limits: ParseLimits;
  private dictionaries = new Dictionaries();
  private memory: Memory | null = null;

  constructor(options: ParseOptions | undefined) {
    this.options = options;
    this.limits = parseLimits(options);
  }

  parse(bytes: Uint8Array, contentType: string | null | undefined): Exposition {
    const { format, fallback } = formatOfContentType(contentType);
    const dialect = format === 'text-0.0.4' ? TEXT : openMetricsDialect(this.options?.rules ?? 'prometheus');
    if (dialect.strict) return parseExposition(bytes, contentType, this.options);

    this.forgetOldEntries();
    const memory = this.memory?.dialect.format === format ? this.memory : null;
    const read =
      memory === null
        ? { page: readPage(bytes, dialect, this.limits, this.dictionaries), same: false }
        : readPageAgain(bytes, dialect, this.limits, this.dictionaries, memory.reference);
    const { rows, missingFinalNewline } = read.page;
    const plain = rows.timestampsSeconds === null && rows.exemplars.size === 0;
    if (memory !== null && read.same && memory.layoutHolds && plain) {
      const values = rows.values.slice(0, rows.count);
      const page = { values, timestampsSeconds: null, exemplars: rows.exemplars, missingFinalNewline };
      return new ParsedExposition(memory.layout, page, fallback);
    }
    const reference = memory !== null && read.same ? memory.reference : new ReferencePage(read.page);
    const { layout, values } = finishPage(read.page);
    this.memory = { dialect, reference, layout, layoutHolds: plain && layout.duplicates.count === 0 };
    return new ParsedExposition(layout, values, fallback);
  }

  /** Label values that never come back would fill the dictionaries: then they are left behind. */
  private forgetOldEntries(): void {
    if (this.dictionaries.size <= 8 * (this.memory?.reference.count ?? 0) + 10_000) return;
    this.dictionaries = new Dictionaries();
    this.memory = null;
  }
}
