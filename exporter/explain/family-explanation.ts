import { readdir, readFile } from 'node:fs/promises';
import { quantitiesOf, type EquivalentFamily } from '../../catalog/equivalents.ts';
import { labelsOf } from '../../catalog/load.ts';
import { parsedText } from '../../catalog/parsed-yaml.ts';
import type { Catalog, CatalogFamily, Exposure, FamilyMatch, JsonSource } from '../../catalog/types.ts';
import { optionOf } from '../../core/histogram/bucket-setting.ts';
import { wrapped } from '../../core/text/words.ts';

/** A dashboard that queries a metric, itself or through a recording rule. */
interface ShowingDashboard {
  readonly dashboard: string;
  readonly uid: string;
  readonly panels: readonly string[];
}

/** Where the product itself uses metrics: panels with their queries, rules with their expressions. */
export interface Uses {
  readonly dashboards: readonly {
    readonly dashboard: string;
    readonly uid: string;
    readonly panels: readonly { readonly title: string; readonly queries: readonly string[] }[];
  }[];
  readonly rules: readonly { readonly name: string; readonly expression: string }[];
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Reads the dashboards (JSON) and the rules (YAML) of two folders; a missing folder holds none. */
export async function readUses(dashboardsFolder: URL, rulesFolder: URL): Promise<Uses> {
  const [boards, ruleFiles] = await Promise.all([
    filesOf(dashboardsFolder, /\.json$/, (text) => JSON.parse(text) as unknown),
    filesOf(rulesFolder, /\.ya?ml$/, parsedText),
  ]);
  const dashboards = boards
    .filter(isObject)
    .flatMap((board) =>
      Array.isArray(board.panels)
        ? [{ dashboard: textOr(board.title, ''), uid: textOr(board.uid, ''), panels: panelsOf(board.panels) }]
        : [],
    );
  const rules = ruleFiles
    .filter(isObject)
    .flatMap((file) => list(file.groups).flatMap((group) => list(group.rules)))
    .map((rule) => ({ name: textOr(rule.record, textOr(rule.alert, '')), expression: textOr(rule.expr, '') }));
  return { dashboards, rules };
}

async function filesOf(folder: URL, ending: RegExp, read: (text: string) => unknown): Promise<unknown[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const wanted = names.filter((name) => ending.test(name)).sort();
  return Promise.all(wanted.map(async (name) => read(await readFile(new URL(name, folder), 'utf8'))));
}

function panelsOf(panels: unknown): { title: string; queries: string[] }[] {
  return list(panels).flatMap((panel) => [
    { title: textOr(panel.title, ''), queries: list(panel.targets).map(({ expr }) => textOr(expr, '')) },
    ...panelsOf(panel.panels),
  ]);
}

/** The dashboards that show a family, and the names of the rules that use it. */
export function usesOf(
  family: string,
  { dashboards, rules }: Uses,
): { dashboards: ShowingDashboard[]; rules: string[] } {
  const using = rules.filter(({ expression }) => mentions(expression, family)).map(({ name }) => name);
  const names = [family, ...using];
  const showing = dashboards.map(({ dashboard, uid, panels }) => ({
    dashboard,
    uid,
    panels: [
      ...new Set(
        panels
          .filter(({ queries }) => queries.some((query) => names.some((name) => mentions(query, name))))
          .map(({ title }) => title),
      ),
    ],
  }));
  return { dashboards: showing.filter(({ panels }) => panels.length > 0), rules: [...new Set(using)].sort() };
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/g;

function mentions(query: string, name: string): boolean {
  return (query.match(NAME) ?? []).some(
    (word) => word === name || (word.startsWith(name) && /^_(bucket|sum|count)$/.test(word.slice(name.length))),
  );
}

/** What `explain METRIC --json` prints of one family. What is not known or does not apply is null. */
export interface FamilyExplanation {
  readonly family: string;
  readonly system: string;
  readonly system_title: string;
  readonly meaning: string;
  readonly type: string;
  readonly other_types: readonly { readonly type: string; readonly where: string }[];
  readonly unit: string;
  readonly base_unit: string | null;
  readonly factor: number | null;
  readonly units_by_label_value: Readonly<Record<string, string>> | null;
  readonly per: string | null;
  readonly observation: string | null;
  readonly labels: readonly string[];
  readonly optional_labels: readonly string[];
  readonly label_values: Readonly<Record<string, readonly string[]>>;
  readonly buckets: readonly number[] | string | null;
  /** The option of the server that sets the buckets. */
  readonly bucket_option: BucketOptionExplanation | null;
  readonly quantiles: readonly number[] | null;
  readonly group: string;
  readonly required: boolean;
  readonly part: string | null;
  readonly exposed: Exposure;
  readonly when: string;
  readonly since: string | null;
  readonly until: string | null;
  readonly deprecated: string | null;
  readonly json_source: JsonSource | null;
  readonly equivalents: readonly QuantityExplanation[];
  readonly dashboards: readonly ShowingDashboard[];
  readonly rules: readonly string[];
}

interface BucketOptionExplanation {
  readonly name: string;
  readonly since: string | null;
  readonly note: string | null;
}

/** The quantity of the shared vocabulary that a family gives, and the other systems' families of it. */
interface QuantityExplanation {
  readonly quantity: string;
  readonly definition: string;
  readonly per: string | null;
  /** The client's measure of the same definition. */
  readonly measure: string | null;
  /** Where the family itself differs from the definition. */
  readonly note: string | null;
  readonly others: readonly EquivalentFamily[];
}

/** Everything that the catalogs, the dashboards and the rules contain about a family. */
export function explainFamily({ catalog, family }: FamilyMatch, uses: Uses): FamilyExplanation {
  return {
    family: family.name,
    system: catalog.system,
    system_title: catalog.title,
    meaning: family.help,
    type: family.type,
    other_types: family.other_types ?? [],
    unit: family.unit,
    base_unit: family.base_unit ?? null,
    factor: family.factor ?? null,
    units_by_label_value: family.units_by_label_value ?? null,
    per: family.per ?? null,
    observation: family.observation ?? null,
    labels: labelsOf(catalog, family),
    optional_labels: family.optional_labels ?? [],
    label_values: family.label_values ?? {},
    buckets: family.buckets ?? null,
    bucket_option: bucketOption(catalog, family),
    quantiles: family.quantiles ?? null,
    group: family.group,
    required: family.required ?? false,
    part: family.part ?? null,
    exposed: family.exposed,
    when: family.when,
    since: family.since ?? null,
    until: family.until ?? null,
    deprecated: family.deprecated ?? catalog.deprecated ?? null,
    json_source: family.json ?? null,
    equivalents: equivalentsOf(catalog.system, family.name),
    ...usesOf(family.name, uses),
  };
}

function equivalentsOf(system: string, family: string): QuantityExplanation[] {
  const isSelf = (member: EquivalentFamily): boolean => member.system === system && member.family === family;
  return quantitiesOf(system, family).map(({ quantity, definition, per, measure, families }) => ({
    quantity,
    definition,
    per: per ?? null,
    measure: measure ?? null,
    note: families.find(isSelf)?.note ?? null,
    others: families.filter((member) => !isSelf(member)),
  }));
}

function bucketOption(
  { bucket_options: options = [] }: Catalog,
  { name }: CatalogFamily,
): BucketOptionExplanation | null {
  const option = optionOf(options, name);
  return option === null ? null : { name: option.name, since: option.since ?? null, note: option.note ?? null };
}

const LABEL_WIDTH = 13;

/** One family for the terminal; lines of at most `columns` characters where words allow it. */
export function familyText(explanation: FamilyExplanation, columns: number): string {
  const { family, system, system_title, meaning } = explanation;
  const rows: (readonly [label: string, text: string])[] = [
    ['system', `${system_title} (catalog ${system})`],
    ['type', typeText(explanation)],
    ['unit', unitText(explanation)],
    ...observationRow(explanation),
    ['labels', labelsText(explanation)],
    ...Object.entries(explanation.label_values).map(
      ([label, values]) => ['', `${label}: ${values.map(quoted).join(', ')}`] as const,
    ),
    ...bucketsRow(explanation),
    ...bucketOptionRow(explanation),
    [
      'group',
      `${explanation.group}${explanation.required ? ' (required: used by dashboards, rules or explanations)' : ''}`,
    ],
    ['exposed', exposedText(explanation)],
    ...(explanation.since === null ? [] : [['since', explanation.since] as const]),
    ...(explanation.until === null ? [] : [['until', explanation.until] as const]),
    ...(explanation.deprecated === null ? [] : [['deprecated', explanation.deprecated] as const]),
    ...jsonRow(explanation),
    ...explanation.equivalents.flatMap(equivalentRows),
    ...usesRows(explanation),
  ];
  const lines = rows.flatMap(([label, text]) =>
    wrapped(text, columns - LABEL_WIDTH - 2).map((line, i) => `  ${(i === 0 ? label : '').padEnd(LABEL_WIDTH)}${line}`),
  );
  return [family, ...wrapped(meaning, columns - 2).map((line) => `  ${line}`), '', ...lines, ''].join('\n');
}

const quoted = (value: string): string => (value === '' ? '""' : value);

function typeText({ type, other_types }: FamilyExplanation): string {
  return [type, ...other_types.map((other) => `${other.type} in ${other.where}`)].join('; ');
}

function unitText({ unit, base_unit, factor, units_by_label_value }: FamilyExplanation): string {
  if (units_by_label_value !== null)
    return `by label value: ${Object.entries(units_by_label_value)
      .map(([value, its]) => `${value} in ${its}`)
      .join(', ')}`;
  return base_unit === null ? unit : `${unit}; times ${factor} in ${base_unit}`;
}

function observationRow({ per, observation }: FamilyExplanation): (readonly [string, string])[] {
  if (per === null) return [];
  if (per === 'unknown') return [['one value is', `not known: ${observation}`]];
  return [['one value is', observation ?? `one ${per}`]];
}

function labelsText({ labels, optional_labels }: FamilyExplanation): string {
  const optional = optional_labels.length === 0 ? '' : `; in some modes or versions: ${optional_labels.join(', ')}`;
  return (labels.length === 0 ? 'none' : labels.join(', ')) + optional;
}

function bucketsRow({ buckets, quantiles }: FamilyExplanation): (readonly [string, string])[] {
  if (quantiles !== null) return [['quantiles', quantiles.join(' ')]];
  if (buckets === null) return [];
  return [['buckets', typeof buckets === 'string' ? buckets : `${buckets.join(' ')} +Inf`]];
}

function bucketOptionRow({ bucket_option: option }: FamilyExplanation): (readonly [string, string])[] {
  if (option === null) return [];
  const since = option.since === null ? '' : ` (${option.since})`;
  return [['set by', `${option.name}${since}${option.note === null ? '' : `. ${option.note}`}`]];
}

const EXPOSED: Readonly<Record<FamilyExplanation['exposed'], string>> = {
  always: 'from the start',
  on_use: 'after the first event',
  switch: 'depends on',
  other_release: 'in other releases only',
  never: 'never',
};

function exposedText({ exposed, when, part }: FamilyExplanation): string {
  const where = part === null ? '' : ` (page of: ${part.replaceAll('_', ' ')})`;
  return `${EXPOSED[exposed]}${when === 'always' ? '' : `: ${when}`}${where}`;
}

function jsonRow({ json_source }: FamilyExplanation): (readonly [string, string])[] {
  if (json_source === null) return [];
  const { path, unit, kind, native } = json_source;
  return [
    ['JSON field', `${path} (${unit}, ${kind})${native === undefined ? '' : `; the server's own family: ${native}`}`],
  ];
}

function equivalentRows({
  quantity,
  definition,
  measure,
  note,
  others,
}: QuantityExplanation): (readonly [string, string])[] {
  return [
    ['quantity', `${quantity}: ${definition}${note === null ? '' : ` Here: ${note}.`}`],
    ...(measure === null ? [] : [['', `llmbench's measure: ${measure}`] as const]),
    ...others.map((other, i) => [i === 0 ? 'equivalents' : '', memberText(other)] as const),
  ];
}

function memberText({ system, family, labels, only, note }: EquivalentFamily): string {
  const selector =
    labels === undefined
      ? ''
      : `{${Object.entries(labels)
          .map(([name, value]) => `${name}="${value}"`)
          .join(',')}}`;
  const remarks = [only === 'sum' ? 'the sum only' : '', note ?? ''].filter((remark) => remark !== '');
  return `${system}: ${family}${selector}${remarks.length === 0 ? '' : ` (${remarks.join('; ')})`}`;
}

function usesRows({ dashboards, rules }: FamilyExplanation): (readonly [string, string])[] {
  const shown = dashboards.map(
    ({ dashboard, uid, panels }, i) =>
      [i === 0 ? 'shown in' : '', `${dashboard} (${uid}): ${panels.join(', ')}`] as const,
  );
  return [
    ...(shown.length === 0 ? [['shown in', 'no dashboard'] as const] : shown),
    ...(rules.length === 0 ? [] : [['used by', rules.join(', ')] as const]),
  ];
}
