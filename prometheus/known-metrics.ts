import { readdirSync, readFileSync } from 'node:fs';
import { catalogs, labelsOf } from '../catalog/load.ts';
import { quantities } from '../catalog/equivalents.ts';
import { parsedYaml } from '../catalog/parsed-yaml.ts';
import type { CatalogFamily } from '../catalog/types.ts';
import { serverFamily } from '../core/measures/names.ts';
import { aggregations } from './promql.ts';

/** What is known of a metric that a query may name. */
export interface KnownMetric {
  /** The family: without the `_bucket`, `_sum` or `_count` of its sample. */
  readonly family: string;
  readonly type: CatalogFamily['type'];
  readonly labels: ReadonlySet<string>;
  /** Of a histogram whose server has default bucket bounds: these, in the unit of the family. */
  readonly bounds?: readonly number[];
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

/** A recording rule or an alert, as defined in the YAML. */
export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Labels that Prometheus gives to each target. */
const TARGET_LABELS = ['job', 'instance'];
/** Every family that llmbench itself exposes. */
const OWN_FAMILIES = new URL('../catalog/llmbench.json', import.meta.url);
const HERE = new URL('.', import.meta.url);

/** The rules of `rules/` or `alerts/`, by file. */
export function ruleFiles(folder: 'rules' | 'alerts'): readonly (readonly [file: string, rules: readonly Rule[]])[] {
  const files = readdirSync(new URL(`${folder}/`, HERE)).filter((file) => file.endsWith('.yml'));
  return files.map((file) => {
    const { groups } = parsedYaml(new URL(`${folder}/${file}`, HERE)) as RuleFile;
    return [file, groups.flatMap(({ rules }) => rules)];
  });
}

/**
 * Every metric that a query may name: of the catalogs, of a benchmark, of Prometheus itself, of the recording rules. With
 * `native` also a histogram by the name of its family.
 */
export function knownMetrics({ native = false } = {}): ReadonlyMap<string, KnownMetric> {
  const known = new Map<string, KnownMetric>();
  for (const catalog of catalogs()) {
    for (const family of catalog.families) {
      const labels = [...labelsOf(catalog, family), ...(family.optional_labels ?? [])];
      add(known, family.name, family.type, labels, Array.isArray(family.buckets) ? family.buckets : undefined);
    }
  }
  const own = JSON.parse(readFileSync(OWN_FAMILIES, 'utf8')) as {
    readonly families: readonly (Pick<KnownMetric, 'type'> & { name: string; labels: readonly string[] })[];
  };
  for (const { name, type, labels } of own.families) add(known, name, type, labels);
  for (const [name, { type, labels }] of runExactFamilies()) add(known, name, type, labels);
  for (const name of ['up', 'scrape_duration_seconds', 'scrape_samples_scraped']) add(known, name, 'gauge', []);
  if (native) {
    for (const facts of [...known.values()]) {
      if (facts.type === 'histogram' && !known.has(facts.family)) known.set(facts.family, facts);
    }
  }
  for (const [, rules] of [...ruleFiles('rules'), ...ruleFiles('alerts')]) {
    for (const { record, expr, labels = {} } of rules) {
      if (record === undefined) continue;
      const by = aggregations(expr)[0]?.by ?? [];
      known.set(record, { family: record, type: 'gauge', labels: new Set([...by, ...Object.keys(labels)]) });
    }
  }
  return known;
}

/** What `llmbench serve` publishes of the servers of a run: the families of the vocabulary that systems share. */
function* runExactFamilies(): Generator<readonly [string, Pick<KnownMetric, 'type'> & { labels: readonly string[] }]> {
  const wanted = new Set(quantities().flatMap(({ families }) => families.map(({ family }) => family)));
  for (const catalog of catalogs()) {
    for (const family of catalog.families.filter(({ name }) => wanted.has(name))) {
      const { type, unit } = family;
      if (type !== 'counter' && type !== 'gauge' && type !== 'histogram') continue;
      const { name } = serverFamily(family.name, type, unit);
      const labels = ['run_id', 'system', 'target', ...labelsOf(catalog, family), ...(family.optional_labels ?? [])];
      yield [name, { type, labels: type === 'gauge' ? [...labels, 'stat'] : labels }];
      if (type === 'histogram') yield [`${name}_quantile`, { type: 'gauge', labels: [...labels, 'quantile', 'bound'] }];
    }
  }
}

/** Samples of a type besides that of the family's own name, and the label that they alone have. */
const SAMPLES: Readonly<Record<KnownMetric['type'], readonly (readonly [suffix: string, label: string | null])[]>> = {
  counter: [['', null]],
  gauge: [['', null]],
  info: [['', null]],
  histogram: [
    ['_bucket', 'le'],
    ['_sum', null],
    ['_count', null],
  ],
  summary: [
    ['', 'quantile'],
    ['_sum', null],
    ['_count', null],
  ],
};

function add(
  known: Map<string, KnownMetric>,
  family: string,
  type: KnownMetric['type'],
  labels: readonly string[],
  bounds?: readonly number[],
): void {
  for (const [suffix, own] of SAMPLES[type]) {
    const before = known.get(family + suffix)?.labels ?? [];
    const all = [...before, ...TARGET_LABELS, ...labels, ...(own === null ? [] : [own])];
    const grid = bounds === undefined ? {} : { bounds };
    known.set(family + suffix, { family, type, labels: new Set(all), ...grid });
  }
}
