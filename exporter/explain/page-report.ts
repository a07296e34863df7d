import { systemsOfNames, FamilyIndex } from '../../catalog/lookup.ts';
import { loadCatalog } from '../../catalog/load.ts';
import type { Catalog, CatalogFamily, FamilyMatch, CatalogHead, CatalogMetricType } from '../../catalog/types.ts';
import type { Exposition, MetricType, ExpositionFormat } from '../../core/exposition/index.ts';
import { things } from '../../core/text/quantities.ts';
import { wrapped } from '../../core/text/words.ts';

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

interface SortedPage {
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

interface PageSystem {
  readonly system: string;
  readonly title: string;
  readonly deprecated: string | null;
  /** An engine whose families are on the page of a gateway. */
  readonly passed_through: boolean;
}

interface KnownFamily extends PageFamily {
  /** Name in the catalog, which the page may spell otherwise. */
  readonly catalog_name: string;
  readonly system: string;
  readonly unit: string;
  readonly required: boolean;
}

interface DeprecatedFamily {
  readonly family: string;
  readonly system: string;
  readonly until: string | null;
  readonly note: string;
}

interface MistypedFamily {
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

/** The report on a page for the terminal; lines of at most `columns` characters where words allow it. */
export function pageText(url: string, report: PageReport, columns: number): string {
  const { known, unknown, runtime, deprecated, mistyped, untyped, absent, switches } = report;
  return [
    heading(url, report),
    section(
      'known',
      known.length,
      table(
        known.map((k) => [k.family, k.type, k.unit, `${k.samples}`, k.system]),
        KNOWN_HEAD,
      ),
    ),
    section(
      'of the runtime',
      runtime.length,
      list(
        runtime.map(({ family }) => family),
        columns,
      ),
    ),
    section(
      'unknown',
      unknown.length,
      table(
        unknown.map((u) => [u.family, u.type, `${u.samples}`]),
        UNKNOWN_HEAD,
      ),
    ),
    section(
      'deprecated',
      deprecated.length,
      deprecated.map(({ family, note }) => `  ${family}: ${note}`),
    ),
    section(
      'mistyped',
      mistyped.length,
      mistyped.map(
        (m) =>
          `  ${m.family}: ${m.page_type} here, ${m.catalog_type} in the catalog${m.as_in === null ? '' : `; as in ${m.as_in}`}`,
      ),
    ),
    section('without a type on the page', untyped.length, list(untyped, columns)),
    section('expected but absent', count(absent.expected), grouped(absent.expected, columns)),
    section('not yet: they appear with their first event', count(absent.not_yet), grouped(absent.not_yet, columns)),
    section('absent, turned on by', count(absent.behind_switch), grouped(absent.behind_switch, columns)),
    section('on other pages of the same system', count(absent.other_pages), parts(absent.other_pages, columns)),
    section(
      'switches to know',
      switches.length,
      switches.map(({ system, name, gives }) => `  ${system}: ${name}: ${gives}`),
    ),
  ]
    .filter((text) => text !== '')
    .join('\n');
}

const KNOWN_HEAD = ['family', 'type', 'unit', 'samples', 'system'];
const UNKNOWN_HEAD = ['family', 'type', 'samples'];

function heading(url: string, report: PageReport): string {
  const { systems, families, samples, creation_times, format, format_fallback } = report;
  const names = systems.map(({ title, deprecated, passed_through }) =>
    [title, deprecated === null ? '' : ` (deprecated ${deprecated})`, passed_through ? ' (passed through)' : ''].join(
      '',
    ),
  );
  return [
    url,
    `  systems: ${names.length === 0 ? 'none of the catalogs' : names.join(', ')}`,
    `  ${things(families, 'families')}, ${things(samples, 'samples')}, ${format}${format_fallback === null ? '' : ` (assumed: ${format_fallback})`}` +
      (creation_times === 0 ? '' : `; ${things(creation_times, 'creation times')} (_created) not counted as families`),
    '',
  ].join('\n');
}

function section(title: string, size: number, lines: readonly string[]): string {
  return size === 0 ? '' : [`${title} (${size})`, ...lines, ''].join('\n');
}

function table(rows: readonly (readonly string[])[], head: readonly string[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}

function list(names: readonly string[], columns: number): string[] {
  return wrapped(names.join(', '), columns - 2).map((line) => `  ${line}`);
}

const count = (groups: readonly AbsentGroup[]): number =>
  groups.reduce((sum, { families }) => sum + families.length, 0);

const place = ({ system, part }: AbsentGroup): string =>
  part === null ? system : `${system}, ${part.replaceAll('_', ' ')}`;

function grouped(groups: readonly AbsentGroup[], columns: number): string[] {
  return groups.flatMap((group) => {
    const names = group.families.map(({ family, since }) =>
      since === null ? family : `${family} (${/^\d/.test(since) ? 'since ' : ''}${since})`,
    );
    const lines = wrapped(names.join(', '), columns - 6).map((line) => `      ${line}`);
    return [`  ${group.when}  [${place(group)}]`, ...lines];
  });
}

/** Families of other processes: how many of each, and the conditions that the catalog names. */
function parts(groups: readonly AbsentGroup[], columns: number): string[] {
  return [...Map.groupBy(groups, place)].flatMap(([name, ofPart]) => {
    const conditions = [...new Set(ofPart.map(({ when }) => when))].slice(0, 3);
    const text = `${name}: ${things(count(ofPart), 'families')}; ${conditions.join(' | ')}`;
    return wrapped(text, columns - 4).map((line, i) => `${i === 0 ? '  ' : '    '}${line}`);
  });
}
