import { loadCatalog } from '../../catalog/load.ts';
import type { CatalogFamily } from '../../catalog/types.ts';
import { Family, Histogram, Scalar, Summary } from './family.ts';

/** Name and HELP text of each family of a page, in the order of the page. */
export type PageEntries = readonly (readonly [name: string, help: string])[];

interface PageFamiliesOptions {
  /** The catalogs that describe the families: their types, buckets and label values. */
  readonly catalogs: readonly string[];
  readonly entries: PageEntries;
  /** Bounds that differ from the catalog's, or that it gives as a rule in words. */
  readonly boundsOf?: (facts: CatalogFamily) => readonly number[] | undefined;
  /** Creation of a series that is made now, as Unix time; null where the page does not report it. Default: it does not. */
  readonly createdOf?: (name: string) => number | null;
  /** Default: summaries without quantiles. */
  readonly makeSummary?: (created_s: number | null) => Summary;
}

/** The families of one page, of one kind of series each, by name. */
export class PageFamilies {
  readonly #families: ReadonlyMap<string, Family>;
  readonly #facts: ReadonlyMap<string, CatalogFamily>;

  /** @throws Error when no catalog has a family of the page, or no bounds are known for a histogram */
  constructor(options: PageFamiliesOptions) {
    this.#facts = new Map(options.catalogs.flatMap((name) => familiesOf(name).map((facts) => [facts.name, facts])));
    this.#families = new Map(
      options.entries.map(([name, help]) => {
        const facts = this.#facts.get(name);
        if (facts === undefined) throw new Error(`catalog: ${name} is missing`);
        return [name, makeFamily(facts, help, options)];
      }),
    );
  }

  /** In the order of the page. */
  all(): Iterable<Family> {
    return this.#families.values();
  }

  /** @throws Error when the page has no such family of this kind */
  counter(name: string): Family<Scalar> {
    return this.#get(name, 'counter') as Family<Scalar>;
  }

  gauge(name: string): Family<Scalar> {
    return this.#get(name, 'gauge') as Family<Scalar>;
  }

  histogram(name: string): Family<Histogram> {
    return this.#get(name, 'histogram') as Family<Histogram>;
  }

  summary(name: string): Family<Summary> {
    return this.#get(name, 'summary') as Family<Summary>;
  }

  /** The values that the catalog lists for a label, in its order. */
  labelValues(name: string, label: string): readonly string[] {
    const values = this.#facts.get(name)?.label_values?.[label];
    if (values === undefined) throw new Error(`catalog: ${name} has no values for ${label}`);
    return values;
  }

  #get(name: string, type: Family['type']): Family {
    const family = this.#families.get(name);
    if (family?.type !== type) throw new Error(`the page has no ${type} ${name}`);
    return family;
  }
}

const loaded = new Map<string, readonly CatalogFamily[]>();

/** Reading a catalog takes longer than all the rest of a page: each is read once. */
function familiesOf(catalog: string): readonly CatalogFamily[] {
  const families = loaded.get(catalog) ?? loadCatalog(catalog).families;
  loaded.set(catalog, families);
  return families;
}

function makeFamily(facts: CatalogFamily, help: string, options: PageFamiliesOptions): Family {
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
      const bounds = boundsOf(facts, options);
      return new Family({ name, help }, type, () => new Histogram(bounds, created()));
    }
  }
}

function boundsOf(facts: CatalogFamily, options: PageFamiliesOptions): readonly number[] {
  const own = options.boundsOf?.(facts);
  if (own !== undefined) return own;
  if (typeof facts.buckets !== 'object') throw new Error(`catalog: no rule for the buckets of ${facts.name}`);
  return facts.buckets;
}
