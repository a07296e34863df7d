import { quantitiesOf } from '../../catalog/equivalents.ts';
import type { EquivalentFamily } from '../../catalog/equivalents.ts';
import { labelsOf } from '../../catalog/load.ts';
import type { Catalog, CatalogFamily, Exposure, FamilyMatch, JsonSource } from '../../catalog/types.ts';
import { optionOf } from '../../core/histogram/bucket-setting.ts';
import type { ShowingDashboard, Uses } from './shown-in.ts';
import { usesOf } from './shown-in.ts';

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

export interface BucketOptionExplanation {
  readonly name: string;
  readonly since: string | null;
  readonly note: string | null;
}

/** The quantity of the shared vocabulary that a family gives, and the other systems' families of it. */
export interface QuantityExplanation {
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
