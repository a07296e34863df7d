import { catalogs } from './load.ts';
import { nativeName } from './native-name.ts';
import type { Catalog, CatalogFamily, CatalogMetricType, FamilyMatch } from './types.ts';

/** What Prometheus' types append to a family's name in the names of its samples and of the families next to it. */
const SUFFIXES: Readonly<Record<CatalogMetricType, readonly string[]>> = {
  counter: ['_created'],
  gauge: [],
  histogram: ['_bucket', '_sum', '_count', '_created'],
  summary: ['_sum', '_count', '_created'],
  info: [],
};

/** Colons become underscores on some ways to Prometheus: both spellings are one family. */
const spelling = (name: string): string => name.replaceAll(':', '_');

const withoutTotal = (name: string): string => name.replace(/_total$/, '');

/**
 * Finds families by name in any spelling: `sglang:` or `sglang_`, counters with or without `_total`, gauges with
 * `_info` left out, and the names of samples (`_bucket`, `_sum`, `_count`, `_created`).
 */
export class FamilyIndex {
  readonly #byName = new Map<string, FamilyMatch[]>();
  readonly #byVariant = new Map<string, FamilyMatch[]>();

  constructor(indexed: readonly Catalog[]) {
    for (const catalog of indexed)
      for (const family of catalog.families) {
        add(this.#byName, spelling(family.name), { catalog, family });
        for (const variant of variantsOf(family)) add(this.#byVariant, variant, { catalog, family });
      }
  }

  /** Families of that name; only when there are none, those of which it is a variant. Empty when nothing fits. */
  find(name: string): readonly FamilyMatch[] {
    const wanted = spelling(nativeName(name));
    const matches = this.#byName.get(wanted) ?? this.#byVariant.get(wanted) ?? [];
    // The system whose name the family bears comes before those that show it as well.
    const isOwn = ({ catalog }: FamilyMatch): number => Number(wanted.startsWith(catalog.system));
    return matches.toSorted((a, b) => isOwn(b) - isOwn(a));
  }
}

function add(map: Map<string, FamilyMatch[]>, name: string, match: FamilyMatch): void {
  const matches = map.get(name);
  if (matches === undefined) map.set(name, [match]);
  else matches.push(match);
}

function variantsOf({ name, type }: CatalogFamily): Set<string> {
  const own = spelling(name);
  const bases = new Set([own, withoutTotal(own)]);
  const variants = new Set<string>();
  for (const base of bases) for (const suffix of SUFFIXES[type]) variants.add(base + suffix);
  if (type === 'counter') variants.add(own.endsWith('_total') ? withoutTotal(own) : `${own}_total`);
  if (own.endsWith('_info')) variants.add(own.slice(0, -'_info'.length));
  variants.delete(own);
  return variants;
}

let everything: FamilyIndex | null = null;

/** The families of all catalogs that have this name in any spelling: several when systems share it, empty when none. */
export function findFamilies(name: string): readonly FamilyMatch[] {
  everything ??= new FamilyIndex(catalogs());
  return everything.find(name);
}
