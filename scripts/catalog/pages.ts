import { isAlwaysExposed } from '../../catalog/load.ts';
import { namesOnPage } from '../../catalog/lookup.ts';
import type { Catalog, CatalogFamily } from '../../catalog/types.ts';
import { isVersion } from '../../catalog/versions.ts';
import { createScrapeParser, type Exposition, type MetricFamily } from '../../core/exposition/index.ts';
import { compareRelease, type Difference, type ReleaseMetrics } from './compare.ts';
import type { Definition } from './definitions.ts';

/** A metrics page of a running server. */
interface ServedPage {
  readonly url: string;
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/**
 * The metrics of a running server's pages. Of what is not there, only what no switch and no event is needed for is missed: a
 * page shows what was used.
 */
function metricsOfPages(catalogs: readonly Catalog[], pages: readonly ServedPage[]): ReleaseMetrics {
  const definitions = pages.flatMap(definitionsOf);
  const excused = catalogs.flatMap(({ families }) =>
    families.filter((family) => !isExpected(family)).map(({ name }) => name),
  );
  const quoted = new Set([...definitions.map(({ name }) => name), ...excused]);
  const begins = new RegExp(`^(?:${catalogs.flatMap(({ detect }) => detect).join('|')})`);
  const ofSystem = definitions.filter(({ name }) => begins.test(name) && !isCreated(name, quoted));
  return { definitions: ofSystem, groups: [], quoted, begins, unreadable: null };
}

/** Whether each page of a known release has it. */
const isExpected = (family: CatalogFamily): boolean =>
  isAlwaysExposed(family) && family.part === undefined && (family.since === undefined || isVersion(family.since));

/** Whether it is the time at which a series began, which clients write as a gauge. */
const isCreated = (name: string, known: ReadonlySet<string>): boolean => {
  const base = name.replace(/_created$/, '');
  return base !== name && (known.has(base) || known.has(`${base}_total`));
};

/**
 * The differences between a running server and its catalogs.
 * @throws Error when a page cannot be read
 */
export async function compareServer(
  catalogs: readonly Catalog[],
  release: string,
  urls: readonly string[],
): Promise<readonly Difference[]> {
  const pages = await Promise.all(urls.map(readPage));
  return compareRelease(catalogs, release, metricsOfPages(catalogs, pages));
}

async function readPage(url: string): Promise<ServedPage> {
  const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  return { url, bytes: await response.bytes(), contentType: response.headers.get('content-type') ?? '' };
}

function definitionsOf({ url, bytes, contentType }: ServedPage): readonly Definition[] {
  const page = createScrapeParser().parse(bytes, contentType);
  const nameOf = namesOnPage(page.families.map(({ name }) => name));
  return page.families
    .filter(({ rows }) => rows.length > 0)
    .map((family) => ({
      name: nameOf(family.name),
      type: typeOf(family),
      labels: labelsOf(page, family),
      bounds: family.type === 'histogram' ? boundsOf(page, family) : null,
      at: url,
    }));
}

const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'info'] as const;
const typeOf = ({ type }: MetricFamily): Definition['type'] => TYPES.find((known) => known === type) ?? null;

function labelsOf({ columns }: Exposition, { type, rows }: MetricFamily): readonly string[] {
  const sets = new Set(Array.from(rows, (row) => columns.labelSets[columns.labelSetIds[row] ?? 0] ?? {}));
  const labels = new Set([...sets].flatMap((set) => Object.keys(set)));
  if (type === 'summary') labels.delete('quantile');
  return [...labels];
}

function boundsOf({ columns }: Exposition, { rows }: MetricFamily): readonly number[] {
  const texts = Array.from(rows, (row) => columns.bounds[columns.boundIds[row] ?? -1] ?? '+Inf');
  const bounds = new Set(texts.filter((text) => text !== '+Inf').map(Number));
  return [...bounds].sort((a, b) => a - b);
}
