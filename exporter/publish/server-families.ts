import { quantities } from '../../catalog/equivalents.ts';
import { formatCanonicalNumber, type FamilyInput, type Labels, type SampleInput } from '../../core/exposition/index.ts';
import { serverFamily, type ServerFamily } from '../../core/measures/names.ts';
import type {
  SeriesSummary,
  ServersFile,
  CounterStatistics,
  HistogramStatistics,
  SeriesStatistics,
  GaugeStatistics,
} from '../../core/run/servers-file.ts';

/** One series of a server, as far as it decides whether it is published. */
export interface Republishable {
  readonly family: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Determines which series are published, and under which system: those of the vocabulary that systems share
 * (`catalog/equivalents.yaml`), which is what dashboards need, and those whose family fits one of the patterns (`*` for
 * any characters). `targetSystem` is what its page was recognized as. Null: not published.
 */
function republisher(
  patterns: readonly string[],
): (series: Republishable, targetSystem: string | null) => { readonly system: string } | null {
  const wanted = patterns.map(globPattern);
  const members = new Map(
    Object.entries(
      Object.groupBy(
        quantities().flatMap(({ families }) => families),
        ({ family }) => family,
      ),
    ),
  );
  return ({ family, labels }, targetSystem) => {
    const fitting = (members.get(family) ?? []).filter((member) => carries(labels, member.labels));
    if (fitting.length > 0) {
      const own = fitting.find(({ system }) => system === targetSystem) ?? fitting[0];
      return { system: own?.system ?? '' };
    }
    return wanted.some((pattern) => pattern.test(family)) ? { system: targetSystem ?? '' } : null;
  };
}

function carries(labels: Republishable['labels'], wanted: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

function globPattern(glob: string): RegExp {
  const literal = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${glob.split(/\*+/).map(literal).join('.*')}$`);
}

/** The percentiles of servers' histograms that are published, with the value of the label `quantile`. */
const QUANTILES = [
  ['p50', '0.5'],
  ['p90', '0.9'],
  ['p95', '0.95'],
  ['p99', '0.99'],
] as const;

const OWN_LABELS = ['run_id', 'system', 'target', 'stat', 'quantile', 'bound', 'le'];

/**
 * What the servers said of themselves in the run's window, as families of the run: the delta of a histogram as a
 * histogram and, beside it, its percentiles with the bounds that are certain; the increase of a counter as a counter that
 * began at 0; a gauge's mean over time and its maximum under the label `stat`. A label of the server that would be one of
 * ours becomes `exported_<label>`. What is unknown is left out, and so is what AIPerf's definitions gave.
 */
export function serverFamilies(servers: ServersFile, runId: string, patterns: readonly string[]): FamilyInput[] {
  const published = republisher(patterns);
  const targetSystems = new Map(servers.targets.map(({ target, system }) => [target, system]));
  const families = new FamilyCollector();
  for (const series of servers.series) {
    const { statistics, repeats, target } = series;
    if (repeats !== null || statistics === null || statistics.kind === 'aiperf') continue;
    const found = published(series, targetSystems.get(target) ?? null);
    if (found === null) continue;
    const labels = { run_id: runId, system: found.system, target, ...ownLabels(series.labels) };
    addSeries(families, series, statistics, labels);
  }
  return families.all();
}

function addSeries(
  families: FamilyCollector,
  series: SeriesSummary,
  statistics: SeriesStatistics,
  labels: Labels,
): void {
  const family = serverFamily(series.family, statistics.kind, series.unit);
  const description = (series.description ?? `${series.family} of the server`).trim().replace(/[.;]$/, '');
  const help = `${description}; in the run's window alone.`;
  if (statistics.kind === 'counter')
    families.add(family.name, 'counter', help, counterSamples(statistics, family, labels));
  if (statistics.kind === 'gauge') families.add(family.name, 'gauge', help, gaugeSamples(statistics, family, labels));
  if (statistics.kind !== 'histogram') return;
  families.add(family.name, 'histogram', help, histogramSamples(statistics, family, labels));
  const quantileHelp =
    `Percentiles of ${family.name}: Prometheus' estimate, and the bounds between which the true one lies, ` +
    'narrowed by the sum where that is allowed.';
  // Untyped: promtool allows the label `quantile` only there and in summaries, which these are not.
  families.add(`${family.name}_quantile`, 'untyped', quantileHelp, quantileSamples(statistics, family, labels));
}

function counterSamples({ increase }: CounterStatistics, { factor }: ServerFamily, labels: Labels): SampleInput[] {
  return increase === null ? [] : [{ labels, value: scaled(increase, factor) }];
}

function gaugeSamples({ mean, max }: GaugeStatistics, { factor }: ServerFamily, labels: Labels): SampleInput[] {
  const stat = (name: string, value: number | null): SampleInput[] =>
    value === null ? [] : [{ labels: { ...labels, stat: name }, value: scaled(value, factor) }];
  return [...stat('mean', mean), ...stat('max', max)];
}

function histogramSamples(
  statistics: HistogramStatistics,
  { name, factor }: ServerFamily,
  labels: Labels,
): SampleInput[] {
  const { count, sum, buckets } = statistics;
  if (count === null || buckets === null) return [];
  const finite = buckets.filter(([bound]) => Number.isFinite(Number(bound)));
  const bucket = (le: string, value: number): SampleInput => ({
    metricName: `${name}_bucket`,
    sharedLabels: labels,
    labels: { le },
    value,
  });
  return [
    ...finite.map(([bound, value]) => bucket(formatCanonicalNumber(scaled(Number(bound), factor)), value)),
    bucket('+Inf', count),
    ...(sum === null
      ? []
      : [{ metricName: `${name}_sum`, sharedLabels: labels, labels: {}, value: scaled(sum, factor) }]),
    { metricName: `${name}_count`, sharedLabels: labels, labels: {}, value: count },
  ];
}

function quantileSamples(
  { percentiles }: HistogramStatistics,
  { factor }: ServerFamily,
  labels: Labels,
): SampleInput[] {
  if (percentiles === null) return [];
  return QUANTILES.flatMap(([name, quantile]) => {
    const { estimate, bounds, bounds_by_sum } = percentiles[name];
    const certain = bounds_by_sum ?? bounds;
    const sample = (bound: string, value: number): SampleInput => ({
      labels: { ...labels, quantile, bound },
      value: scaled(value, factor),
    });
    return [
      // Without an edge a bucket is open on that side: it reaches to infinity.
      ...(certain === null ? [] : [sample('low', certain[0] ?? -Infinity)]),
      ...(estimate === null ? [] : [sample('estimate', estimate)]),
      ...(certain === null ? [] : [sample('high', certain[1] ?? Infinity)]),
    ];
  });
}

/**
 * Labels of a server beside ours: names that are ours, or that Prometheus keeps for itself (`__…`), are exported, as it
 * does it; characters that text 0.0.4 does not know in names become `_`.
 */
function ownLabels(labels: Labels): Labels {
  const legal = (name: string): string => name.replace(/[^0-9A-Za-z_]/g, '_').replace(/^(?=\d)/, '_');
  const used = new Set(OWN_LABELS);
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(labels)) {
    let free = legal(name);
    while (used.has(free) || free.startsWith('__') || (free !== name && Object.hasOwn(labels, free))) {
      free = `exported_${free.replace(/^_+/, '')}`;
    }
    used.add(free);
    found.set(free, value);
  }
  return Object.fromEntries(found);
}

/** The product as a decimal number would have it: 70 ms are 0.07 s, not 0.07000000000000001. */
function scaled(value: number, factor: number): number {
  return factor === 1 || !Number.isFinite(value) ? value : Number((value * factor).toPrecision(15));
}

/** Families by name, in alphabetical order; of two series with equal labels the first stands. */
class FamilyCollector {
  readonly #families = new Map<string, { type: FamilyInput['type']; help: string; samples: SampleInput[] }>();
  readonly #seen = new Set<string>();

  add(name: string, type: FamilyInput['type'], help: string, samples: readonly SampleInput[]): void {
    const [first] = samples;
    if (first === undefined) return;
    const key = JSON.stringify([name, Object.entries({ ...first.sharedLabels, ...first.labels }).sort()]);
    const family = this.#families.get(name) ?? { type, help, samples: [] };
    if (this.#seen.has(key) || family.type !== type) return;
    this.#seen.add(key);
    family.samples.push(...samples);
    this.#families.set(name, family);
  }

  all(): FamilyInput[] {
    return [...this.#families]
      .map(([name, family]) => ({ name, ...family }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
