/**
 * What one observation of a histogram is; only equal ones may be laid over each other. `operation` is work that is none
 * of the four, named by the family's `observation`; such families compare with nothing but themselves.
 */
export type ObservationUnit = 'request' | 'token' | 'step' | 'chunk' | 'operation' | 'unknown';

export type CatalogMetricType = 'counter' | 'gauge' | 'histogram' | 'summary' | 'info';

/**
 * When a family is on its page: `always` from the start · `on_use` after the first event, without a switch · `switch`
 * only with what `when` names · `other_release` only in releases other than the one described · `never` defined but
 * without a series.
 */
export type Exposure = 'always' | 'on_use' | 'switch' | 'other_release' | 'never';

/** The place of a family's value in a JSON row. */
export interface JsonSource {
  readonly path: string;
  readonly type: string;
  /** Of the JSON value; times `scale` it is the family's. */
  readonly unit: string;
  readonly nullable: boolean;
  readonly kind: 'snapshot' | 'delta' | 'cumulative' | 'config' | 'label' | 'id';
  readonly alias?: string;
  readonly scale: number;
  readonly native?: string;
}

/** A field of a JSON row that becomes no family. */
export interface CatalogField extends Omit<JsonSource, 'scale' | 'native'> {
  readonly group: string;
  readonly help: string;
  readonly when: string;
  readonly required?: true;
}

/**
 * What the values of a family follow: a signal, or a value that stays; several that move the same series; or for each
 * value of a label what its series follows. Values of the label that are not named stay at 0.
 */
export type Follows =
  string | number | readonly Follows[] | { readonly [label: string]: { readonly [value: string]: Follows } };

/** One metric family as a system exposes it. The keys are described in `schema.json`. */
export interface CatalogFamily {
  readonly name: string;
  readonly type: CatalogMetricType;
  readonly other_types?: readonly { readonly type: CatalogMetricType; readonly where: string }[];
  readonly unit: string;
  readonly base_unit?: string;
  /** The exposed value times this is in `base_unit`. */
  readonly factor?: number;
  readonly units_by_label_value?: Readonly<Record<string, string>>;
  readonly per?: ObservationUnit;
  readonly observation?: string;
  readonly labels: readonly string[];
  readonly omit_labels?: readonly string[];
  readonly optional_labels?: readonly string[];
  readonly label_values?: Readonly<Record<string, readonly string[]>>;
  /** Finite upper bounds, ascending, in the family's unit; or the rule that makes them, in words. */
  readonly buckets?: readonly number[] | string;
  readonly quantiles?: readonly number[];
  readonly follows?: Follows;
  readonly group: string;
  readonly help: string;
  /** The process of the system whose page has it; absent: any. */
  readonly part?: string;
  readonly exposed: Exposure;
  readonly when: string;
  /** The first release, or date, that has it; absent: no release of `versions` lacks it. */
  readonly since?: string;
  /** The first release, or date, that lacks it. */
  readonly until?: string;
  /** Names that it had before, with the same meaning, newest first. */
  readonly formerly?: readonly string[];
  readonly required?: true;
  readonly deprecated?: string;
  readonly json?: JsonSource;
}

export interface CatalogEndpoint {
  readonly port: number;
  readonly path: string;
  readonly note?: string;
}

/** A dashboard that the system ships itself, with the families of each of its panels. */
export interface OfficialDashboard {
  readonly file: string;
  readonly title: string;
  readonly note?: string;
  readonly panels: readonly { readonly panel: string; readonly metrics: readonly string[]; readonly shape: string }[];
}

/** An option of a server that sets the bounds of histograms. The keys are described in `schema.json`. */
export interface CatalogBucketOption {
  readonly name: string;
  readonly place: 'argument' | 'environment' | 'file';
  readonly takes: 'list' | 'log_spaced';
  readonly part: string;
  readonly setting?: string;
  readonly separator?: string;
  readonly part_separator?: string;
  readonly adds_zero?: boolean;
  readonly most_bounds?: number;
  readonly since?: string;
  readonly note?: string;
  readonly sets: readonly { readonly key?: string; readonly families: readonly string[] }[];
}

/** The part of a catalog file before the families: enough to recognize the system. */
export interface CatalogHead {
  readonly system: string;
  readonly title: string;
  /** A gateway passes the pages of engines through, a layer works inside another system. */
  readonly role: 'gateway' | 'engine' | 'layer' | 'hardware';
  readonly default_endpoint: CatalogEndpoint;
  readonly other_endpoints?: readonly CatalogEndpoint[];
  readonly format?: 'json';
  readonly detect: readonly string[];
  readonly detect_with?: readonly string[];
  readonly detect_without?: readonly string[];
  readonly switches?: readonly { readonly name: string; readonly gives: string }[];
  /** Empty: the server has none; absent: not known. */
  readonly bucket_options?: readonly CatalogBucketOption[];
  readonly bucket_options_unknown?: readonly string[];
  readonly deprecated?: string;
  readonly observed?: string;
  /** The releases that the file was compared with. */
  readonly versions?: { readonly oldest: string; readonly newest: string };
  readonly source: string;
  readonly common_labels: readonly string[];
}

/** The metric families of one system, as the file `catalog/<system>.yaml` holds them. */
export interface Catalog extends CatalogHead {
  readonly families: readonly CatalogFamily[];
  readonly fields?: readonly CatalogField[];
  readonly notes: readonly string[];
  readonly official_dashboards?: readonly OfficialDashboard[];
  /** Parts of the system's pages: families in the order of the page, with its own HELP texts; null: that of the family. */
  readonly pages?: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
}

/** A family with the catalog that describes it. */
export interface FamilyMatch {
  readonly catalog: Catalog;
  readonly family: CatalogFamily;
}
