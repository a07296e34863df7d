import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endOfPage, metadataLines, seriesStart, valueText } from '../../../core/exposition/index.ts';
import { replaceFile, outputFile, besideOutput } from '../../files/durable-file.ts';
import type { TimedSeries, SeriesLabels, PushedFamily, PushedSeries } from '../remote-write/pushed-series.ts';

/** As long as a block of Prometheus is by default, and aligned to it: a page then becomes one block. */
export const PAGE_MS = 2 * 3600 * 1000;

/** A page of OpenMetrics with the samples of one stretch of time. */
interface BackfillPage {
  /** Milliseconds since the epoch; a multiple of the page's length. */
  readonly start_ms: number;
  readonly text: string;
}

interface FamilyLines {
  readonly head: string;
  readonly lines: string[];
}

/**
 * Puts the series of many runs into pages of OpenMetrics 1.0 with their times, as `promtool tsdb create-blocks-from
 * openmetrics` reads them: each family once, the points of a metric together and ascending. Stale markers are left out:
 * the format has none.
 */
export class OpenMetricsPages {
  readonly #length_ms: number;
  readonly #pages = new Map<number, Map<string, FamilyLines>>();

  /** `length_ms` Infinity: one page for everything. */
  constructor(length_ms: number = PAGE_MS) {
    this.#length_ms = length_ms;
  }

  add({ layout, points }: TimedSeries): void {
    layout.families.forEach((family, at) => {
      const own = layout.series.flatMap((series, i) => (series.family === at ? [{ series, i }] : []));
      for (const metric of metrics(own)) {
        for (const { time_ms, values } of points) {
          if (values === null) continue;
          const page = this.#family(time_ms, family);
          for (const { series, i } of metric) page.lines.push(line(series.labels, values[i] ?? NaN, time_ms));
        }
      }
    });
  }

  /** The pages that end by then, in the order of time; they are forgotten. */
  takeUntil(time_ms: number): readonly BackfillPage[] {
    return [...this.#pages.keys()]
      .sort((a, b) => a - b)
      .filter((start_ms) => start_ms + this.#length_ms <= time_ms)
      .map((start_ms) => {
        const families = this.#pages.get(start_ms) ?? new Map<string, FamilyLines>();
        this.#pages.delete(start_ms);
        const text = [...families.values()].map(({ head, lines }) => head + lines.join('')).join('');
        return { start_ms, text: text + endOfPage('openmetrics') };
      });
  }

  #family(time_ms: number, { name, type, help }: PushedFamily): FamilyLines {
    const start_ms = this.#length_ms === Infinity ? 0 : Math.floor(time_ms / this.#length_ms) * this.#length_ms;
    const page = this.#pages.get(start_ms) ?? new Map<string, FamilyLines>();
    this.#pages.set(start_ms, page);
    const family = page.get(name) ?? { head: metadataLines({ name, help, type }, 'openmetrics'), lines: [] };
    page.set(name, family);
    return family;
  }
}

interface PlacedSeries {
  readonly series: PushedSeries;
  readonly i: number;
}

/** The series that are one metric: a histogram's buckets, sum and count. */
function metrics(series: readonly PlacedSeries[]): readonly (readonly PlacedSeries[])[] {
  const found = new Map<string, PlacedSeries[]>();
  for (const each of series) {
    const key = JSON.stringify(each.series.labels.filter(([name]) => name !== '__name__' && name !== 'le'));
    const metric = found.get(key) ?? [];
    metric.push(each);
    found.set(key, metric);
  }
  return [...found.values()];
}

function line(labels: SeriesLabels, value: number, time_ms: number): string {
  const { __name__: name = '', ...own } = Object.fromEntries(labels);
  return `${seriesStart(name, own)} ${valueText(value)} ${(time_ms / 1000).toFixed(3)}\n`;
}

/** Some series with their times, of a source that gives them in the order of time. */
export interface BackfillPart {
  /** No sample of it, nor of the parts that follow, is older; milliseconds since the epoch. */
  readonly start_ms: number;
  readonly series: readonly TimedSeries[];
}

/** The parts of two sources in the order of time. */
export async function* inOrderOfTime(
  first: AsyncIterable<BackfillPart>,
  second: Iterable<BackfillPart>,
): AsyncGenerator<BackfillPart> {
  const others = second[Symbol.iterator]();
  let other = others.next();
  for await (const part of first) {
    for (; other.done !== true && other.value.start_ms <= part.start_ms; other = others.next()) yield other.value;
    yield part;
  }
  for (; other.done !== true; other = others.next()) yield other.value;
}

/** Where the pages go: a folder gets one file for each two hours, a file or a stream gets one page. */
export type BackfillOutput =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stream'; write(text: string): void };

/**
 * Writes parts, which come in the order of their start, as OpenMetrics with times; gives the files that were written, each
 * of which exists only when it is complete.
 * Throws the file system's error.
 */
export async function writePages(
  parts: AsyncIterable<BackfillPart>,
  output: BackfillOutput,
): Promise<readonly string[]> {
  const pages = new OpenMetricsPages(output.kind === 'folder' ? PAGE_MS : Infinity);
  const written: string[] = [];
  const write = async (page: BackfillPage): Promise<void> => {
    const path = await writePage(page, output);
    if (path !== null) written.push(path);
  };
  if (output.kind === 'folder') await mkdir(output.path, { recursive: true });
  let any = false;
  for await (const { series, start_ms } of parts) {
    // No later part has a sample before this one's start.
    for (const page of pages.takeUntil(start_ms)) await write(page);
    series.forEach((each) => pages.add(each));
    any = true;
  }
  if (any) for (const page of pages.takeUntil(Infinity)) await write(page);
  return written;
}

async function writePage({ start_ms, text }: BackfillPage, output: BackfillOutput): Promise<string | null> {
  if (output.kind === 'stream') {
    output.write(text);
    return null;
  }
  const path = output.kind === 'file' ? output.path : join(output.path, `${fileTime(start_ms)}.openmetrics`);
  const target = await outputFile(path);
  if (target.replaceable) await replaceFile(target.path, text, besideOutput);
  else await writeFile(target.path, text);
  return path;
}

/** Such as `20261121T2200Z`. */
const fileTime = (time_ms: number): string =>
  `${new Date(time_ms).toISOString().slice(0, 16).replaceAll(/[-:]/g, '')}Z`;
