import { systemsOfNames } from '../../catalog/detect.ts';
import { loadCatalog } from '../../catalog/load.ts';
import { FamilyIndex } from '../../catalog/lookup.ts';
import type { CatalogHead, CatalogMetricType } from '../../catalog/types.ts';
import type { Exposition, ExpositionFormat, MetricType } from '../../core/exposition/index.ts';
import type { AbsentFamilies } from './absent-families.ts';
import { absentFamilies } from './absent-families.ts';
import type { KnownPageFamily, PageFamily } from './page-families.ts';
import { sortFamilies } from './page-families.ts';

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
