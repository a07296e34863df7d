import { loadCatalog } from '../../catalog/load.ts';
import type { Catalog, CatalogFamily } from '../../catalog/types.ts';
import { Family, Histogram, Scalar, Summary } from './family.ts';
import type { Labels } from './family.ts';
import { writePage, type PageFormat } from './write-page.ts';

interface PageOptions {
  /** The catalogs that describe the families: their types, labels and buckets, and in `pages` their order and HELP. */
  readonly catalogs: readonly string[];
  /** The parts of their `pages` that this page has, in its order. */
  readonly parts: readonly string[];
  /** How it is written. */
  readonly format: PageFormat;
  /** The limit of bounds that the catalog gives as a rule: 1, 2, 5, 10, … up to it. */
  readonly maxModelLen?: number;
  /** Bounds that differ from the catalog's, or that it gives as another rule in words. */
  readonly boundsOf?: (facts: CatalogFamily) => readonly number[] | undefined;
  /** Creation of a series that is made now, as Unix time; null where the page does not report it. Default: it does not. */
  readonly createdOf?: (name: string) => number | null;
  /** Default: summaries without quantiles. */
  readonly makeSummary?: (created_s: number | null) => Summary;
}

/** A family of a page, with what the catalog says of it. */
export interface PageFamily {
  readonly facts: CatalogFamily;
  /** Names of the labels that each of its series has. */
  readonly labels: readonly string[];
  readonly family: Family;
}

/** The families of one page, by name and in the order of the page. */
export class MetricsPage {
  readonly #families = new Map<string, PageFamily>();
  readonly #format: PageFormat;

  /** @throws Error when no catalog has a family of the page, or no bounds are known for a histogram */
  constructor(options: PageOptions) {
    this.#format = options.format;
    const catalogs = options.catalogs.map(loadCatalog);
    for (const part of options.parts) {
      const entries = catalogs.flatMap(({ pages }) => Object.entries(pages?.[part] ?? {}));
      if (entries.length === 0) throw new Error(`no catalog of ${options.catalogs.join()} has a page ${part}`);
      for (const [name, help] of entries) this.#families.set(name, pageFamily(catalogs, name, help, options));
    }
  }

  /** The page as its server writes it. */
  text(): string {
    return writePage(
      Array.from(this.#families.values(), ({ family }) => family),
      this.#format,
    );
  }

  /** In the order of the page. */
  entries(): Iterable<PageFamily> {
    return this.#families.values();
  }

  /** A series of a counter or gauge with these labels. */
  scalar(name: string, labels: Labels = {}): Scalar {
    const series = this.get(name).family.series(labels);
    if (!(series instanceof Scalar)) throw new Error(`${name} is no counter or gauge`);
    return series;
  }

  histogram(name: string, labels: Labels = {}): Histogram {
    const series = this.get(name).family.series(labels);
    if (!(series instanceof Histogram)) throw new Error(`${name} is no histogram`);
    return series;
  }

  /** @throws Error when the page has no such family */
  get(name: string): PageFamily {
    const found = this.#families.get(name);
    if (found === undefined) throw new Error(`the page has no ${name}`);
    return found;
  }
}

function pageFamily(catalogs: readonly Catalog[], name: string, help: string | null, options: PageOptions): PageFamily {
  for (const catalog of catalogs) {
    const facts = catalog.families.find((family) => family.name === name);
    if (facts === undefined) continue;
    const family = makeFamily(facts, help ?? facts.help, options);
    const common = catalog.common_labels.filter((label) => facts.omit_labels?.includes(label) !== true);
    return { facts, labels: [...common, ...facts.labels], family };
  }
  throw new Error(`no catalog of ${options.catalogs.join()} has ${name}`);
}

function makeFamily(facts: CatalogFamily, help: string, options: PageOptions): Family {
  const { name, type } = facts;
  const created = (): number | null => options.createdOf?.(name) ?? null;
  switch (type) {
    case 'counter':
      return new Family({ name, help }, type, () => new Scalar(created()));
    // The text format has no infos: they are gauges at 1.
    case 'gauge':
    case 'info':
      return new Family({ name, help }, 'gauge', () => new Scalar(created()));
    case 'summary': {
      const make = options.makeSummary ?? ((created_s: number | null) => new Summary(created_s));
      return new Family({ name, help }, type, () => make(created()));
    }
    case 'histogram': {
      const { maxModelLen, boundsOf } = options;
      const isRuled = typeof facts.buckets === 'string' && TOKEN_BOUNDS.test(facts.buckets);
      const ruled = isRuled && maxModelLen !== undefined ? oneTwoFiveBounds(maxModelLen) : facts.buckets;
      const bounds = boundsOf?.(facts) ?? ruled;
      if (typeof bounds !== 'object') throw new Error(`catalog: no rule for the buckets of ${name}`);
      return new Family({ name, help }, type, () => new Histogram(bounds, created()));
    }
  }
}

const TOKEN_BOUNDS = /^1[,-]2[,-]5 /;

/** The bounds 1, 2, 5, 10, 20, 50, … that do not exceed `limit`: vLLM's grid of everything that counts tokens. */
export function oneTwoFiveBounds(limit: number): number[] {
  const bounds: number[] = [];
  for (let power = 1; ; power *= 10) {
    for (const digit of [1, 2, 5]) {
      if (digit * power > limit) return bounds;
      bounds.push(digit * power);
    }
  }
}
