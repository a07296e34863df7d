import type { Catalog, CatalogFamily } from '../../catalog/types.ts';

/** Families that are not on the page for one reason. */
export interface AbsentGroup {
  readonly system: string;
  /** The process of the system, null when the system has but one. */
  readonly part: string | null;
  /** The switch or the condition, as the catalog states it. */
  readonly when: string;
  readonly families: readonly { readonly family: string; readonly since: string | null }[];
}

export interface AbsentFamilies {
  /** Are on each such page from the start, and are not on this one. */
  readonly expected: readonly AbsentGroup[];
  /** Appear after their first event. */
  readonly not_yet: readonly AbsentGroup[];
  /** Need a switch. */
  readonly behind_switch: readonly AbsentGroup[];
  /** Are on the pages of other processes of the system. */
  readonly other_pages: readonly AbsentGroup[];
}

/**
 * The families of a system that its page lacks, by reason. What other releases have, or what never has a series, is
 * not reported. A part of the system counts as being on the page when any family of it is there.
 */
export function absentFamilies(catalog: Catalog, onPage: ReadonlySet<string>): AbsentFamilies {
  const partsOnPage = new Set(catalog.families.filter(({ name }) => onPage.has(name)).map(({ part }) => part));
  const missing = catalog.families.filter(({ name }) => !onPage.has(name));
  const here = missing.filter(({ part }) => part === undefined || partsOnPage.has(part));
  const elsewhere = missing.filter(
    (family) => !here.includes(family) && family.exposed !== 'other_release' && family.exposed !== 'never',
  );
  const exposed = (exposure: CatalogFamily['exposed']): AbsentGroup[] =>
    groups(
      catalog,
      here.filter((family) => family.exposed === exposure),
    );
  return {
    expected: exposed('always'),
    not_yet: exposed('on_use'),
    behind_switch: exposed('switch'),
    other_pages: groups(catalog, elsewhere),
  };
}

function groups({ system }: Catalog, families: readonly CatalogFamily[]): AbsentGroup[] {
  const byReason = Map.groupBy(families, ({ part, when }) => JSON.stringify([part ?? null, when]));
  return [...byReason.values()].map((group) => ({
    system,
    part: group[0]?.part ?? null,
    when: group[0]?.when ?? '',
    families: group.map(({ name, since }) => ({ family: name, since: since ?? null })),
  }));
}
