import { systemsOfNames, FamilyIndex } from '../../catalog/lookup.ts';
import { loadCatalog } from '../../catalog/load.ts';
import type { Catalog, CatalogFamily, FamilyMatch, CatalogHead, CatalogMetricType } from '../../catalog/types.ts';
import type { Exposition, MetricType, ExpositionFormat } from '../../core/exposition/index.ts';

/** Families that are not on the page for one reason. */
export interface AbsentGroup {
  readonly system: string;
  /** The process of the system, null when the system has but one. */
  readonly part: string | null;
  /** The switch or the condition, as the catalog states it. */
  readonly when: string;
  readonly families: readonly { readonly family: string; readonly since: string | null }[];
}

interface AbsentFamilies {
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
function absentFamilies(catalog: Catalog, onPage: ReadonlySet<string>): AbsentFamilies {
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

/** A family of the page that a catalog of the page's systems describes. */
interface KnownPageFamily extends FamilyMatch {
  /** As the page spells it; of several spellings the one that has a type. */
  readonly name: string;
  /** `unknown` when the page does not report. */
  readonly type: MetricType;
  readonly samples: number;
}

interface PageFamily {
  readonly family: string;
  readonly type: MetricType;
  readonly samples: number;
}

export interface SortedPage {
  readonly known: readonly KnownPageFamily[];
  /** Families about the process (`process_`, `python_`, `go_`), which every program of that kind has. */
  readonly runtime: readonly PageFamily[];
  readonly unknown: readonly PageFamily[];
  /** `…_created` families that belong to another family of the page. */
  readonly creationTimes: number;
}

const RUNTIME = /^(process|python|go)_/;

/**
 * Sorts the families of a page by what is known of them. Spellings of one family are one: with a defect of
 * prometheus_client 0.23 to 0.26 the types are those of `sglang:x` and the samples those of `sglang_x`.
 */
function sortFamilies(page: Exposition, index: FamilyIndex): SortedPage {
  const known = new Map<string, KnownPageFamily>();
  const runtime: PageFamily[] = [];
  const unknown: PageFamily[] = [];
  let creationTimes = 0;
  for (const { name, type, rows } of page.families) {
    const samples = rows.length;
    const [match] = index.find(name);
    if (isCreationTime(name, page)) creationTimes += 1;
    else if (match !== undefined) addKnown(known, { ...match, name, type, samples });
    else (RUNTIME.test(name) ? runtime : unknown).push({ family: name, type, samples });
  }
  return { known: [...known.values()], runtime, unknown, creationTimes };
}

function addKnown(known: Map<string, KnownPageFamily>, found: KnownPageFamily): void {
  const key = `${found.catalog.system} ${found.family.name}`;
  const before = known.get(key);
  if (before === undefined) known.set(key, found);
  else {
    const typed = before.type === 'unknown' ? found : before;
    known.set(key, { ...typed, samples: before.samples + found.samples });
  }
}

function isCreationTime(name: string, page: Exposition): boolean {
  if (!name.endsWith('_created')) return false;
  const base = name.slice(0, -'_created'.length);
  return page.family(base) !== undefined || page.family(`${base}_total`) !== undefined;
}

/** What `explain --url U --json` prints of a page. */
export interface PageReport {
  readonly format: ExpositionFormat;
  /** Why that format was assumed, when the content type does not report it. */
  readonly format_fallback: string | null;
  readonly systems: readonly PageSystem[];
  /** Spellings of one family count once; creation times are not counted. */
  readonly families: number;
  readonly samples: number;
  readonly creation_times: number;
  readonly known: readonly KnownFamily[];
  readonly runtime: readonly PageFamily[];
  readonly unknown: readonly PageFamily[];
  readonly deprecated: readonly DeprecatedFamily[];
  readonly mistyped: readonly MistypedFamily[];
  /** Known families for which the page gives no type. */
  readonly untyped: readonly string[];
  readonly absent: AbsentFamilies;
  /** Switches of the recognized systems that matter to a reader of their metrics. */
  readonly switches: readonly { readonly system: string; readonly name: string; readonly gives: string }[];
}

export interface PageSystem {
  readonly system: string;
  readonly title: string;
  readonly deprecated: string | null;
  /** An engine whose families are on the page of a gateway. */
  readonly passed_through: boolean;
}

export interface KnownFamily extends PageFamily {
  /** Name in the catalog, which the page may spell otherwise. */
  readonly catalog_name: string;
  readonly system: string;
  readonly unit: string;
  readonly required: boolean;
}

export interface DeprecatedFamily {
  readonly family: string;
  readonly system: string;
  readonly until: string | null;
  readonly note: string;
}

export interface MistypedFamily {
  readonly family: string;
  readonly system: string;
  readonly page_type: MetricType;
  readonly catalog_type: CatalogMetricType;
  /** Which other release has the type of the page, null when none is known. */
  readonly as_in: string | null;
}

/** Compares a page with the catalogs of the systems whose families it has. */
export function pageReport(page: Exposition): PageReport {
  const catalogs = systemsOfNames(page.families.map(({ name }) => name)).map(loadCatalog);
  const { known, runtime, unknown, creationTimes } = sortFamilies(page, new FamilyIndex(catalogs));
  const absent = catalogs.map((catalog) => absentFamilies(catalog, namesOf(known, catalog.system)));
  return {
    format: page.format,
    format_fallback: page.formatFallback,
    systems: pageSystems(catalogs),
    families: known.length + runtime.length + unknown.length,
    samples: page.columns.count,
    creation_times: creationTimes,
    known: known.map(knownFamily),
    runtime,
    unknown,
    deprecated: known.flatMap(deprecation),
    mistyped: known.flatMap(wrongType),
    untyped: known.filter(({ type }) => type === 'unknown').map(({ name }) => name),
    absent: {
      expected: absent.flatMap(({ expected }) => expected),
      not_yet: absent.flatMap(({ not_yet }) => not_yet),
      behind_switch: absent.flatMap(({ behind_switch }) => behind_switch),
      other_pages: absent.flatMap(({ other_pages }) => other_pages),
    },
    switches: catalogs.flatMap(({ system, switches }) => (switches ?? []).map((each) => ({ system, ...each }))),
  };
}

function pageSystems(catalogs: readonly CatalogHead[]): PageSystem[] {
  const behindGateway = catalogs[0]?.role === 'gateway';
  return catalogs.map(({ system, title, role, deprecated }) => ({
    system,
    title,
    deprecated: deprecated ?? null,
    passed_through: behindGateway && role === 'engine',
  }));
}

function namesOf(known: readonly KnownPageFamily[], system: string): Set<string> {
  return new Set(known.filter(({ catalog }) => catalog.system === system).map(({ family }) => family.name));
}

function knownFamily({ catalog, family, name, type, samples }: KnownPageFamily): KnownFamily {
  return {
    family: name,
    catalog_name: family.name,
    system: catalog.system,
    type,
    unit: family.unit,
    samples,
    required: family.required ?? false,
  };
}

function deprecation({ catalog, family, name }: KnownPageFamily): DeprecatedFamily[] {
  const { deprecated, until } = family;
  if (deprecated === undefined && until === undefined) return [];
  return [{ family: name, system: catalog.system, until: until ?? null, note: deprecated ?? family.when }];
}

function wrongType({ catalog, family, name, type }: KnownPageFamily): MistypedFamily[] {
  if (type === 'unknown' || type === family.type || isInfoAsGauge(family.name, type)) return [];
  const elsewhere = family.other_types?.find((other) => other.type === type);
  return [
    {
      family: name,
      system: catalog.system,
      page_type: type,
      catalog_type: family.type,
      as_in: elsewhere?.where ?? null,
    },
  ];
}

/** The classic text format has no type `info`: the Python client writes such a family as a gauge that is 1. */
const isInfoAsGauge = (name: string, type: MetricType): boolean =>
  name.endsWith('_info') && (type === 'gauge' || type === 'info');
