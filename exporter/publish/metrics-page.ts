import {
  endOfPage,
  metadataLines,
  sampleLines,
  type FamilyInput,
  type FamilyMetadata,
  type PageFormat,
} from '../../core/exposition/index.ts';

/** Lines of a page in pieces, which also are kept by themselves: one buffer of all would hold each line twice. */
export type PagePieces = readonly Buffer[];

/** One response of `/metrics`. */
export interface RenderedPage<Body extends string | PagePieces = string> {
  readonly contentType: string;
  readonly body: Body;
  /** Lines that precede the body and are new in each response. */
  readonly before?: string;
}

/** Something that can be scraped, by any number of scrapers at once: reading it resets nothing. */
export interface MetricsPage {
  /**
   * `accept` is the request's header: text 0.0.4 or OpenMetrics 1.0. A page that is kept is returned in pieces, the same
   * array for as long as nothing changes.
   */
  render(accept: string | undefined): Promise<RenderedPage<string | PagePieces>>;
}

/** The samples of one run in one family, as the lines that are kept: the same in both formats but for exemplars. */
export interface KeptFamily extends FamilyMetadata {
  readonly lines: Buffer;
  /** With exemplars, which only OpenMetrics has; absent: there are none. */
  readonly openMetricsLines?: Buffer;
  /** How many lines. */
  readonly series: number;
}

/** Throws an `ExpositionWriteError` when the family cannot be written. */
export function keptFamily({ name, help, type, samples }: FamilyInput): KeptFamily {
  return { name, help, type, lines: Buffer.from(sampleLines({ name, samples })), series: samples.length };
}

/**
 * The page of these families: each name once with the lines of all runs below it, as both formats require, in the order in
 * which the names first appear. Lines of a family whose type differs from that of the first of its name are left out.
 */
export function pagePieces(families: readonly KeptFamily[], format: PageFormat): PagePieces {
  const byName = new Map<string, KeptFamily[]>();
  for (const family of families) {
    const group = byName.get(family.name) ?? [];
    if (group[0] === undefined || group[0].type === family.type) group.push(family);
    byName.set(family.name, group);
  }
  const pieces = [...byName.values()].flatMap((group) => {
    const nonEmpty = group.filter(({ series }) => series > 0);
    const [first] = nonEmpty;
    return first === undefined
      ? []
      : [
          Buffer.from(metadataLines(first, format)),
          ...nonEmpty.map(({ lines, openMetricsLines = lines }) =>
            format === 'openmetrics' ? openMetricsLines : lines,
          ),
        ];
  });
  return [...pieces, Buffer.from(endOfPage(format))];
}

interface MediaRange {
  readonly type: string;
  readonly version: string | null;
  readonly quality: number;
}

/**
 * The exposition format for an `Accept` header (RFC 9110 §12.5.1): OpenMetrics 1.0 when it is named and wanted at least as
 * much as the text format, else text 0.0.4, which every scraper reads, also when the header is missing or unknown.
 */
export function negotiateFormat(accept: string | undefined): PageFormat {
  const ranges = (accept ?? '').split(',').map(mediaRange);
  const best = (fits: (range: MediaRange) => boolean): number =>
    Math.max(0, ...ranges.filter(fits).map(({ quality }) => quality));
  const openmetrics = best(
    ({ type, version }) => type === 'application/openmetrics-text' && (version === null || version === '1.0.0'),
  );
  const text = best(({ type, version }) => type === 'text/plain' && (version === null || version === '0.0.4'));
  return openmetrics > 0 && openmetrics >= text ? 'openmetrics' : 'text';
}

function mediaRange(item: string): MediaRange {
  const [type = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
  const value = (name: string): string | null =>
    parameters
      .find((parameter) => parameter.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .replace(/^"(.*)"$/, '$1') ?? null;
  const quality = Number(value('q') ?? '1');
  return { type, version: value('version'), quality: Number.isFinite(quality) ? quality : 0 };
}
