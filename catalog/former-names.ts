import { catalogs, labelsOf } from './load.ts';
import type { Catalog, CatalogFamily } from './types.ts';
import { compareVersions, isVersion } from './versions.ts';

/** A name that a family had before, with the same meaning. */
export interface FormerName {
  readonly name: string;
  readonly labels: readonly string[];
  readonly since: string | undefined;
  /** Whether a page may have both names with other labels or buckets: then only one of the two may be counted. */
  readonly mayDiffer: boolean;
}

let known: ReadonlyMap<string, readonly FormerName[]> | null = null;

/** The former names of a family by its current one, newest first; empty when it never had another. */
export function formerNames(family: string): readonly FormerName[] {
  known ??= new Map(catalogs().flatMap(namesOf));
  return known.get(family) ?? [];
}

function namesOf(catalog: Catalog): (readonly [string, readonly FormerName[]])[] {
  return catalog.families.flatMap((family) => {
    const former = (family.formerly ?? []).map((name) => {
      const before = catalog.families.find((candidate) => candidate.name === name);
      if (before === undefined)
        throw new Error(`${catalog.system}: ${family.name} was formerly ${name}, which is unknown`);
      const labels = [...labelsOf(catalog, before), ...(before.optional_labels ?? [])];
      return {
        name,
        labels,
        since: before.since,
        mayDiffer: overlap(before, family) && !haveSameSeries(catalog, before, family),
      };
    });
    return former.length === 0 ? [] : [[family.name, former] as const];
  });
}

/** Whether some release has both names. */
function overlap({ until }: CatalogFamily, { since }: CatalogFamily): boolean {
  return !isVersion(until) || !isVersion(since) || compareVersions(until, since) > 0;
}

function haveSameSeries(catalog: Catalog, a: CatalogFamily, b: CatalogFamily): boolean {
  const series = (family: CatalogFamily): string => JSON.stringify([labelsOf(catalog, family), family.buckets ?? null]);
  return series(a) === series(b);
}
