import { labelsOf } from '../../catalog/load.ts';
import type { Catalog, CatalogFamily } from '../../catalog/types.ts';
import { compareVersions, isVersion } from '../../catalog/versions.ts';
import { wholeNames, type Definition, type NameGroup } from './definitions.ts';

/** What the sources of a release say of its metrics. */
export interface ReleaseMetrics {
  readonly definitions: readonly Definition[];
  /** Names that are put together from constants. */
  readonly groups: readonly NameGroup[];
  /** Names and endings of names in quotes: some are put together where a metric is made. */
  readonly quoted: ReadonlySet<string>;
  /** Families whose names are put together in a way that no text shows. */
  readonly unreadable: RegExp | null;
  /** How the names begin that the sources define: those of libraries are on the page as well. */
  readonly begins: RegExp;
}

/** A difference between a release and the catalog. */
export interface Difference {
  readonly kind: 'new' | 'vanished' | 'labels' | 'bounds' | 'type';
  /** Of the catalog, or, if the family is new, of the sources. */
  readonly family: string;
  /** What the release has, and where; of a family that vanished, since which release the catalog has it. */
  readonly detail: string;
}

/** The families of a release against those that its catalogs state for it. */
export function compareRelease(
  catalogs: readonly Catalog[],
  release: string,
  { definitions, groups, quoted, begins, unreadable }: ReleaseMetrics,
): readonly Difference[] {
  const families = catalogs.flatMap((catalog) => catalog.families.map((family) => ({ catalog, family })));
  const known = new Map(families.map((entry) => [entry.family.name, entry]));
  const byStem = new Map(families.map(({ family }) => [withoutTotal(family.name), family.name]));
  // Sources may lack the `_total` of a counter; a page may have a gauge of the same name without it.
  const nameOf = (name: string): string => (known.has(name) ? name : (byStem.get(withoutTotal(name)) ?? name));
  const names = families.map(({ family }) => family.name);
  const ofConstants = groups.flatMap((group) => wholeNames(group, names));
  const defined = Map.groupBy([...definitions, ...ofConstants], ({ name }) => nameOf(name));
  const unknown = [...defined].filter(([name]) => {
    const family = known.get(name)?.family;
    return family?.exposed !== 'never' && !isStated(family, release);
  });
  return [
    ...unknown.map(([, [first]]) => difference('new', first?.name ?? '', describe(first))),
    ...families
      .filter(
        ({ family }) =>
          begins.test(family.name) &&
          unreadable?.test(family.name) !== true &&
          isStated(family, release) &&
          !isQuoted(family.name, quoted),
      )
      .map(({ family }) =>
        difference('vanished', family.name, `in the catalog since ${family.since ?? 'the oldest release'}`),
      ),
    ...[...defined].flatMap(([name, all]) => {
      const entry = known.get(name);
      return entry === undefined || !isStated(entry.family, release) ? [] : changes(entry.catalog, entry.family, all);
    }),
  ].sort((a, b) => a.kind.localeCompare(b.kind) || a.family.localeCompare(b.family));
}

function difference(kind: Difference['kind'], family: string, detail: string): Difference {
  return { kind, family, detail };
}

function describe(definition: Definition | undefined): string {
  const { type, labels, at } = definition ?? { type: null, labels: null, at: '' };
  return `${type ?? 'metric'} {${labels === null ? '?' : labels.join(', ')}} in ${at}`;
}

/** Whether the catalog states that the release has the family. */
function isStated(family: CatalogFamily | undefined, release: string): boolean {
  if (family === undefined || family.exposed === 'never') return false;
  const { since, until, exposed } = family;
  if (exposed === 'other_release' && !isVersion(until)) return false;
  const begun = !isVersion(since) || compareVersions(since, release) <= 0;
  return begun && (!isVersion(until) || compareVersions(release, until) < 0);
}

/** Whether some ending of the name is in quotes: prefixes and `_total` are added elsewhere. */
function isQuoted(name: string, quoted: ReadonlySet<string>): boolean {
  const parts = name.split(/(?<=[_:])/);
  return parts.some((_, from) => {
    const ending = parts.slice(from).join('');
    return quoted.has(ending) || quoted.has(withoutTotal(ending));
  });
}

function changes(catalog: Catalog, family: CatalogFamily, definitions: readonly Definition[]): Difference[] {
  const types = [family.type, ...(family.other_types ?? []).map(({ type }) => type)];
  const labels = labelsOf(catalog, family);
  const allowed = new Set([...labels, ...(family.optional_labels ?? []), ...catalog.common_labels]);
  return definitions.flatMap((found): Difference[] => {
    const unlike = found.labels?.filter((label) => !allowed.has(label)) ?? [];
    const bounds = found.bounds === null || !Array.isArray(family.buckets) ? null : found.bounds;
    const isSame = bounds === null || areEqual(bounds.map(Number), family.buckets as readonly number[]);
    const typeDiffers = found.type !== null && !types.includes(found.type) && family.type !== 'info';
    return [
      ...(typeDiffers ? [difference('type', family.name, `${found.type ?? ''} in ${found.at}`)] : []),
      ...(unlike.length > 0 ? [difference('labels', family.name, `also ${unlike.join(', ')} in ${found.at}`)] : []),
      ...(isSame ? [] : [difference('bounds', family.name, `${String(bounds)} in ${found.at}`)]),
    ];
  });
}

/** But for the last digits, which a page has of bounds that were calculated. */
function areEqual(bounds: readonly number[], known: readonly number[]): boolean {
  const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.abs(b);
  return bounds.length === known.length && bounds.every((bound, i) => isNear(bound, known[i] ?? NaN));
}

function withoutTotal(name: string): string {
  return name.replace(/_total$/, '');
}
