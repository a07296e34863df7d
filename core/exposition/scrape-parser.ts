import { formatOfContentType } from './content-type.ts';
import { TEXT, openMetricsDialect } from './page/dialect.ts';
import type { Dialect } from './page/dialect.ts';
import { Dictionaries } from './page/dictionaries.ts';
import type { Exposition } from './exposition.ts';
import { finishPage } from './page/finish-page.ts';
import { anyDuplicate } from './page/duplicates.ts';
import { PageCursor } from './page/page-cursor.ts';
import type { PageLayout } from './page/page-layout.ts';
import type { PageRows } from './page/page-rows.ts';
import { parseExposition } from './parse.ts';
import { parseLimits } from './parse-options.ts';
import type { ParseLimits, ParseOptions } from './parse-options.ts';
import { ParsedExposition } from './page/parsed-exposition.ts';
import { parseProtobuf } from './protobuf/parse-protobuf.ts';
import { readPage } from './page/read-page.ts';
import { readPageAgain } from './page/read-page-again.ts';
import { ReferencePage } from './page/reference-page.ts';

/** Parses the pages of one target, scrape after scrape. */
export interface ScrapeParser {
  /** As `parseExposition`, with the same result; fast when the page has the lines of the one before. */
  parse(bytes: Uint8Array, contentType: string | null | undefined): Exposition;
}

/** A parser that keeps what it knows of one target's lines. It holds the beginnings of the lines of the last page. */
export function createScrapeParser(options?: ParseOptions): ScrapeParser {
  return new TargetParser(options);
}

/** The target's last page; replaced as a whole, and only by a valid page. */
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
    if (format === 'protobuf') return parseProtobuf(bytes, this.options);
    const dialect = format === 'text-0.0.4' ? TEXT : openMetricsDialect(this.options?.rules ?? 'prometheus');
    if (dialect.strict) return parseExposition(bytes, contentType, this.options);

    this.forgetOldEntries();
    const memory = this.memory?.dialect.format === format ? this.memory : null;
    return memory === null ? this.parseNew(bytes, dialect, fallback) : this.parseAgain(bytes, memory, fallback);
  }

  private parseNew(bytes: Uint8Array, dialect: Dialect, fallback: string | null): Exposition {
    const page = readPage(bytes, dialect, this.limits, this.dictionaries);
    const reference = ReferencePage.of(page);
    const { layout, values } = finishPage(page);
    this.memory = { dialect, reference, layout, layoutHolds: isPlain(page.rows) && layout.duplicates.count === 0 };
    return new ParsedExposition(layout, values, fallback);
  }

  private parseAgain(bytes: Uint8Array, memory: Memory, fallback: string | null): Exposition {
    const { dictionaries } = this;
    const { dialect, reference, layout: before } = memory;
    const firstNewSet = dictionaries.labelSets.sets.length;
    const again = readPageAgain(bytes, dialect, this.limits, dictionaries, reference, !memory.layoutHolds);
    const { same, missingFinalNewline, exemplars } = again;
    const plain = isPlain(again);
    if (same && plain && memory.layoutHolds) {
      const page = { values: again.allValues(), timestampsSeconds: null, exemplars, missingFinalNewline };
      return new ParsedExposition(before, page, fallback);
    }
    // Rows that were distinct before still are: only the fresh ones can duplicate another.
    const rows = again.allRows();
    const unique = memory.layoutHolds && plain && !anyDuplicate(rows, dictionaries, again.freshRows, firstNewSet);
    // New duplicates or new timestamps: the data required to report them was not kept.
    if (memory.layoutHolds && !unique) return this.parseNew(bytes, dialect, fallback);
    const columns = { nameIds: rows.nameIds, labelSetIds: rows.labelSetIds, boundIds: rows.boundIds };
    const cursor = new PageCursor(again.bytes);
    const unfinished = { rows, dictionaries, dialect, cursor, missingFinalNewline };
    const { layout, values } = finishPage(unfinished, unique ? [] : undefined);
    this.memory = {
      dialect,
      reference: same ? reference : reference.after(again, columns),
      layout,
      layoutHolds: plain && layout.duplicates.count === 0,
    };
    return new ParsedExposition(layout, values, fallback);
  }

  /** Label values that never return would fill the dictionaries: they are then replaced. */
  private forgetOldEntries(): void {
    if (this.dictionaries.size <= 4 * (this.memory?.reference.count ?? 0) + 10_000) return;
    this.dictionaries = new Dictionaries();
    this.memory = null;
  }
}

/** Neither timestamps nor exemplars. */
function isPlain(rows: Pick<PageRows, 'timestampsSeconds' | 'exemplars'>): boolean {
  return rows.timestampsSeconds === null && rows.exemplars.size === 0;
}
