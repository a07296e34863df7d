import { quantities } from '../../../catalog/equivalents.ts';
import { compareVersions, isVersion } from '../../../catalog/versions.ts';
import { serverFamily } from '../../../core/measures/names.ts';
import { withFormerNames } from '../../../prometheus/former-names.ts';
import { shareWithin } from '../../../prometheus/objectives.ts';
import { runMatcher } from '../../../prometheus/queries.ts';
import { SELECTED_RUNS } from '../queries/client.ts';
import { HEATMAP_INSTANCE } from '../variables.ts';
import { Families, type Family } from './families.ts';
import { type Signal, type SignalOptions } from './panel-spec.ts';
import { rateUnit, valueUnit, type DisplayUnit } from '../panels/display-units.ts';

/** The host and port in the address of a page, which is the instance of its series. */
const INSTANCE = 'https?://([^/]+).*';

/**
 * A counter's increase over exactly the measure phases of the chosen runs, by instance; null: `llmbench serve` does not publish
 * it as the server exposes it. `matchers` are on the server's own labels.
 */
function increaseOfRun(family: Family, matchers: readonly string[]): string | null {
  if (family.type !== 'counter' || !isPublished(family)) return null;
  const { name, factor } = serverFamily(family.name, 'counter', family.unit);
  const sum = `sum by (instance) (${ofRun(name, family, matchers)})`;
  return factor === 1 ? sum : `${sum} * ${1 / factor}`;
}

/** A percentile as Prometheus estimates it. Percentiles are not added: the highest of several runs and processes. */
function percentileOfRun(family: Family, matchers: readonly string[], quantile: number): string | null {
  if (family.type !== 'histogram' || !isPublished(family)) return null;
  const { name, factor } = serverFamily(family.name, 'histogram', family.unit);
  const estimate = [`quantile="${quantile}"`, 'bound="estimate"'];
  const highest = `max by (instance) (${ofRun(`${name}_quantile`, family, [...matchers, ...estimate])})`;
  return factor === 1 ? highest : `${highest} * ${1 / factor}`;
}

/** All series of the family, as they are. */
function isPublished({ name }: Family): boolean {
  const members = quantities().flatMap(({ families }) => families.filter(({ family }) => family === name));
  return members.length > 0 && members.some(({ labels }) => labels === undefined);
}

/** Series of the chosen instances; several jobs and exporters may have published the same. */
function ofRun(metric: string, { allLabels }: Family, matchers: readonly string[]): string {
  const chosen = [runMatcher(SELECTED_RUNS), 'target=~"https?://($instance)(/.*)?"', ...matchers].join(',');
  const labels = ['run_id', 'target', ...allLabels].join(', ');
  const once = `max by (${labels}) (last_over_time(${metric}{${chosen}}[$__range]))`;
  return `label_replace(${once}, "instance", "$1", "target", "${INSTANCE}")`;
}

/** The servers of one system, as the dashboard's variables choose them. */
export interface ServerScope {
  /** Catalogs that know the families; the first that has a name wins. */
  readonly systems: readonly string[];
  /** Label that `$model` chooses by; the families that have none are not narrowed by it. */
  readonly modelLabel?: string;
  /** A server has one model: legends name the server only. */
  readonly oneModel?: true;
  /** Further variables: label by variable. */
  readonly choices?: Readonly<Record<string, string>>;
  /** Variable that chooses the instances, where these are exporters with a job of their own. */
  readonly exporter?: string;
  /** Matchers for every family that has this label, such as one that leaves out series that count everything twice. */
  readonly always?: Readonly<Record<string, string>>;
  /** Labels of replicas that all report the same figures, and what distinguishes those that do not. */
  readonly replicas?: { readonly labels: readonly string[]; readonly apart: readonly string[] };
}

/** A single process has many units of one kind; the fullest one is what limits, and ratios are neither added nor averaged. */
const NOT_ADDED = new Set(['ratio', 'percent', 'permille', 'state', 'bool', 'flag', 'celsius', 'timestamp_seconds']);
const SUFFIX = /_(total|seconds|tokens|ratio|perc)$/;

/**
 * Builds the queries of a dashboard from names of families. Labels, matchers, units and legends follow from the catalog.
 * Instances stay apart in every query, because their bucket bounds may differ; within an instance a family has one grid.
 */
export class ServerQueries {
  readonly #families: Families;
  readonly #scope: ServerScope;
  /** Counters over `[$__rate_interval]` for lines, or over the whole time range for a table of the servers, a row each. */
  readonly #window: 'rate_interval' | 'range';

  constructor(scope: ServerScope, window: 'rate_interval' | 'range' = 'rate_interval') {
    this.#scope = scope;
    this.#families = new Families(scope.systems);
    this.#window = window;
  }

  /** One value per instance over the whole time range. */
  overRange(): ServerQueries {
    return new ServerQueries(this.#scope, 'range');
  }

  /** A gauge: added within an instance, or, of a ratio or a state, the highest of the instance. */
  gauge(name: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const unit = options.unit ?? family.unit;
    const added = !NOT_ADDED.has(unit);
    const series = this.#selector(family, family.name, options);
    const keep = this.#keep(family, options);
    const aggregated = added ? this.#sum(family, keep, series) : `max by (${keep.join(', ')}) (${series})`;
    const display = valueUnit(unit);
    const expr = this.#window === 'range' ? `max_over_time((${aggregated})[$__range:$scrape_interval])` : aggregated;
    return this.#signal(expr, [family], display, options, keep);
  }

  /** The highest series of each instance, of a quantity that is not added: one timeout, one limit, one latest value. */
  highest(name: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const keep = this.#keep(family, options);
    const expr = `max by (${keep.join(', ')}) (${this.#selector(family, family.name, options)})`;
    return this.#signal(expr, [family], valueUnit(options.unit ?? family.unit), options, keep);
  }

  /** A counter's increase: per second over time, or its whole over the time range. */
  rate(name: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const keep = this.#keep(family, options);
    const unit = options.unit ?? family.unit;
    const display = this.#window === 'range' ? valueUnit(unit) : rateUnit(unit);
    const increase = this.#increase(family, family.name, options);
    const expr = options.zeroWith === undefined ? increase : this.#orZero(increase, family, options.zeroWith, options);
    const signal = this.#signal(expr, [family], display, options, keep);
    return this.#withRun(signal, increaseOfRun(family, this.#matchers(family, options)));
  }

  /** How many observations of a histogram or summary there are per second. */
  observations(name: string, unit: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const keep = this.#keep(family, options);
    return this.#signal(this.#increase(family, `${name}_count`, options), [family], rateUnit(unit), options, keep);
  }

  /** What the observations of a histogram add up to per second. */
  sumRate(name: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const keep = this.#keep(family, options);
    const display = rateUnit(options.unit ?? family.unit);
    return this.#signal(this.#increase(family, `${name}_sum`, options), [family], display, options, keep);
  }

  /** Percentiles of a histogram, estimated by `histogram_quantile`: one grid per line, never added over instances. */
  percentiles(name: string, quantiles: readonly number[], options: SignalOptions = {}): Signal[] {
    const family = this.#families.get(name);
    const keep = this.#keep(family, options);
    const rates = this.#increase(family, `${name}_bucket`, { ...options, by: [...(options.by ?? []), 'le'] });
    const display = valueUnit(options.unit ?? family.unit);
    return quantiles.map((quantile) => {
      const as = [options.as ?? '', `p${quantile * 100}`].filter(Boolean).join(' ');
      const expr = `histogram_quantile(${quantile}, ${rates})`;
      const buckets = this.#selector(family, `${name}_bucket`, options);
      const signal = this.#signal(expr, [family], display, { ...options, as }, keep);
      const ofRun = percentileOfRun(family, this.#matchers(family, options), quantile);
      return { ...this.#withRun(signal, ofRun), percentile: { quantile, buckets } };
    });
  }

  /** The mean of what a histogram or summary observed: sum of the sums ÷ sum of the counts. */
  mean(name: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const sum = this.#increase(family, `${name}_sum`, options);
    const count = this.#increase(family, `${name}_count`, options);
    const as = options.as ?? `mean ${this.#shortName(family)}`;
    const display = valueUnit(options.unit ?? family.unit);
    return this.#signal(`${sum} / ${count}`, [family], display, { ...options, as }, this.#keep(family, options));
  }

  /** The same over all chosen instances, each with the weight of its observations: one value that can be stacked. */
  meanOverall(name: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const sum = this.#overall(this.#increase(family, `${name}_sum`, options), options);
    const count = this.#overall(this.#increase(family, `${name}_count`, options), options);
    return this.#signal(`${sum} / ${count}`, [family], valueUnit(family.unit), options, options.by ?? []);
  }

  /** The mean, which is exact, before percentiles that are only as good as coarse buckets. */
  meanAndPercentiles(name: string, quantiles: readonly number[], options: SignalOptions = {}): Signal[] {
    const mean = [options.as ?? '', 'mean'].filter(Boolean).join(' ');
    return [this.mean(name, { ...options, as: mean }), ...this.percentiles(name, quantiles, options)];
  }

  /** A quantile that the server itself has calculated, as it stands: it can be neither added nor averaged. */
  summaryQuantile(name: string, quantile: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const where = [options.where, `quantile="${quantile}"`].filter(Boolean).join(',');
    const keep = this.#keep(family, options);
    const as = [options.as ?? '', `p${Number(quantile) * 100}`].filter(Boolean).join(' ');
    const expr = this.#selector(family, family.name, { ...options, where });
    return this.#signal(expr, [family], valueUnit(family.unit), { ...options, as }, [...keep, ...family.labels]);
  }

  /** One counter ÷ another, each added up before the division. */
  ratio(part: string, whole: string, options: SignalOptions = {}): Signal {
    const [over, under] = [this.#families.get(part), this.#families.get(whole)];
    const keep = this.#keep(over, options);
    const underKeep = this.#keep(under, { by: options.by ?? [] });
    if (keep.join() !== underKeep.join()) throw new Error(`${part} and ${whole} have different labels`);
    const expr = `${this.#increase(over, part, options)} / ${this.#increase(under, whole, options)}`;
    const as = options.as ?? `${this.#shortName(over)} ÷ ${this.#shortName(under)}`;
    return this.#signal(expr, [over, under], valueUnit(options.unit ?? 'ratio'), { ...options, as }, keep);
  }

  /** The same over all chosen instances: one value that can be stacked. */
  ratioOverall(part: string, whole: string, options: SignalOptions = {}): Signal {
    const [over, under] = [this.#families.get(part), this.#families.get(whole)];
    const numerator = this.#overall(this.#increase(over, part, options), options);
    const expr = `${numerator} / ${this.#overall(this.#increase(under, whole, options), options)}`;
    return this.#signal(expr, [over, under], valueUnit(options.unit ?? 'ratio'), options, options.by ?? []);
  }

  /** One gauge as a share of another. */
  gaugeShare(part: string, whole: string, options: SignalOptions = {}): Signal {
    const [over, under] = [this.#families.get(part), this.#families.get(whole)];
    const keep = this.#keep(over, options);
    const expr =
      `${this.#sum(over, keep, this.#selector(over, part, options))} / ` +
      this.#sum(under, keep, this.#selector(under, whole, options));
    const as = options.as ?? `${this.#shortName(over)} ÷ ${this.#shortName(under)}`;
    return this.#signal(expr, [over, under], valueUnit('ratio'), { ...options, as }, keep);
  }

  /** The part of a counter's increase that matches, as a share of all of it; 0 where nothing has matched yet. */
  share(name: string, where: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const all = this.#increase(family, name, options);
    const part = this.#increase(family, name, { ...options, where: [options.where, where].filter(Boolean).join(',') });
    const expr = `(${part} or 0 * ${all}) / ${all}`;
    return this.#signal(expr, [family], valueUnit('ratio'), options, this.#keep(family, options));
  }

  /** The least or the largest share of a histogram's observations that may be at or below the value of a variable. */
  within(name: string, variable: string, edge: 'least' | 'most', options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const labels = this.#keep(family, options);
    const below = (bound: string, by: readonly string[] = []): string => {
      const where = [options.where, `le${bound}`].filter(Boolean).join(',');
      return this.#increase(family, `${name}_bucket`, { ...options, where, by: [...(options.by ?? []), ...by] });
    };
    const counted = {
      buckets: below('!="+Inf"', ['le']),
      atLimit: below(`="$${variable}"`),
      count: this.#increase(family, `${name}_count`, options),
      labels,
    };
    return this.#signal(shareWithin(counted, `$${variable}`, edge), [family], valueUnit('ratio'), options, labels);
  }

  /** The increase of each bucket, for a heatmap that is repeated for each instance: so all its series have one grid. */
  buckets(name: string, options: SignalOptions = {}): Signal {
    const family = this.#families.get(name);
    const selector = this.#selector(family, `${name}_bucket`, options).replace('$instance', `$${HEATMAP_INSTANCE}`);
    const expr = `sum by (le) (rate(${selector}[$__rate_interval]))`;
    return { ...this.#signal(expr, [family], valueUnit(options.unit ?? family.unit), options, []), legend: '{{le}}' };
  }

  /** The labels of an `…_info` family, one row per combination. */
  info(name: string, labels: readonly string[]): Signal {
    const family = this.#families.get(name);
    const expr = `max by (${['instance', ...labels].join(', ')}) (${this.#selector(family, name, {})})`;
    return this.#signal(expr, [family], valueUnit('count'), {}, ['instance', ...labels]);
  }

  /** A query that the others cannot say; `families` are those in it. */
  custom(expr: string, names: readonly string[], unit: DisplayUnit, legend: string): Signal {
    return {
      expr: withFormerNames(expr),
      legend,
      display: unit,
      families: names.map((name) => this.#families.get(name)),
    };
  }

  /** The selector of several families with the labels of the first. */
  anyOf([first = '', ...others]: readonly string[]): string {
    const selector = this.selector(first);
    if (others.length === 0) return selector;
    return selector.replace(`${first}{`, `{__name__=~"${[first, ...others].join('|')}",`);
  }

  /** The selector of a family for `custom`. */
  selector(name: string, where = ''): string {
    const family = this.#families.get(name.replace(/_(bucket|sum|count)$/, ''));
    return this.#selector(family, name, { where });
  }

  /** Labels that a query keeps: the model where the family has it and it is no row of a table, the instance, those requested. */
  #keep({ allLabels }: Family, { by = [] }: SignalOptions): string[] {
    const { modelLabel } = this.#scope;
    if (this.#window === 'range') return ['instance', ...by];
    const model = modelLabel !== undefined && allLabels.includes(modelLabel) ? [modelLabel] : [];
    return [...model, 'instance', ...by];
  }

  #selector(family: Family, metric: string, options: Pick<SignalOptions, 'where'>): string {
    const { exporter } = this.#scope;
    const targets = exporter === undefined ? ['job=~"$job"', 'instance=~"$instance"'] : [`instance=~"$${exporter}"`];
    return `${metric}{${[...targets, ...this.#matchers(family, options)].join(',')}}`;
  }

  /** Those on the server's own labels. */
  #matchers({ allLabels }: Family, { where }: Pick<SignalOptions, 'where'>): string[] {
    const { modelLabel, choices = {}, always = {} } = this.#scope;
    const matchers: string[] = [];
    if (modelLabel !== undefined && allLabels.includes(modelLabel)) matchers.push(`${modelLabel}=~"$model"`);
    for (const [variable, label] of Object.entries(choices)) {
      if (allLabels.includes(label)) matchers.push(`${label}=~"$${variable}"`);
    }
    for (const [label, matcher] of Object.entries(always)) {
      if (allLabels.includes(label) && !new RegExp(`\\b${label}[=!]`).test(where ?? '')) matchers.push(matcher);
    }
    return where ? [...matchers, where] : matchers;
  }

  /** The same signal with what is published of exactly the chosen runs. */
  #withRun(signal: Signal, ofRun: string | null): Signal {
    const isApart = this.#scope.exporter !== undefined || signal.families.some((family) => this.#isReplicated(family));
    return ofRun === null || this.#window !== 'range' || isApart ? signal : { ...signal, ofRun };
  }

  #increase(family: Family, metric: string, options: SignalOptions): string {
    const selector = this.#selector(family, metric, options);
    const rates = this.#window === 'range' ? `increase(${selector}[$__range])` : `rate(${selector}[$__rate_interval])`;
    return this.#sum(family, this.#keep(family, options), rates);
  }

  /** Adds what was added within each instance. */
  #overall(expr: string, { by = [] }: SignalOptions): string {
    return by.length === 0 ? `sum(${expr})` : `sum by (${by.join(', ')}) (${expr})`;
  }

  /** The query, or 0 where it has no series and the other family, which counts what could have happened, has one. */
  #orZero(expr: string, { name, exposed, since }: Family, other: string, { by = [] }: SignalOptions): string {
    const family = this.#families.get(other);
    if (isVersion(since) && (!isVersion(family.since) || compareVersions(family.since, since) < 0)) {
      throw new Error(`${name} is missing in releases that have ${other}`);
    }
    // A release or a configuration that lacks the counter would show a 0 that was never counted.
    if (exposed !== 'on_use') throw new Error(`${name} may be missing for other reasons than that nothing happened`);
    if (by.some((label) => !family.allLabels.includes(label))) throw new Error(`${other} has no labels ${by.join()}`);
    return `${expr} or 0 * ${this.#increase(family, other, { by })}`;
  }

  /** Adds within an instance; of replicas that report the same figures one is taken, the one furthest ahead. */
  #sum(family: Family, keep: readonly string[], series: string): string {
    const { replicas } = this.#scope;
    if (replicas === undefined || !this.#isReplicated(family) || keep.includes('le'))
      return `sum by (${keep.join(', ')}) (${series})`;
    const apart = replicas.apart.filter((label) => family.allLabels.includes(label) && !keep.includes(label));
    const one = `max by (${[...keep, ...apart].join(', ')}) (${series})`;
    return apart.length === 0 ? one : `sum by (${keep.join(', ')}) (${one})`;
  }

  #isReplicated({ allLabels }: Family): boolean {
    return this.#scope.replicas?.labels.some((label) => allLabels.includes(label)) === true;
  }

  #signal(
    expr: string,
    families: readonly Family[],
    display: DisplayUnit,
    options: SignalOptions,
    keep: readonly string[],
  ): Signal {
    const [first] = families;
    const name = options.as ?? (first === undefined ? '' : this.#shortName(first));
    const { modelLabel, oneModel = false } = this.#scope;
    const labels = keep.filter((label) => label !== modelLabel && label !== 'instance');
    const ends = keep.filter((label) => (label === modelLabel && !oneModel) || label === 'instance').sort();
    const legend = [name, ...new Set([...labels, ...ends].map((label) => `{{${label}}}`))].filter(Boolean).join(' ');
    return { expr: withFormerNames(expr), legend, display, families };
  }

  /** `waiting` of `vllm:num_requests_waiting`: without the system's prefix and the words that the unit says. */
  #shortName({ name }: Family): string {
    return name
      .replace(/^[a-z_]+:|^(dynamo_[a-z]+|trtllm|nv|kvbm|smg|DCGM_FI_(DEV|PROF))_/, '')
      .replace(SUFFIX, '')
      .replaceAll('_', ' ');
  }
}
