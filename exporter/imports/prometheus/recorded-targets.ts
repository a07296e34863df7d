import { systemsOfNames, FamilyIndex } from '../../../catalog/lookup.ts';
import { catalogs } from '../../../catalog/load.ts';
import {
  createScrapeParser,
  isLabelName,
  isMetricName,
  metadataLines,
  pageType,
  seriesStart,
  valueText,
  type FamilyMetadata,
  type NativeHistogramSample,
} from '../../../core/exposition/index.ts';
import { TargetStore } from '../../servers/series/target-store.ts';
import { ImportRefusal } from '../import-notes.ts';
import type { RecordedSeries, RecordedStretch } from './prometheus-series.ts';

/** What one target may take of the memory: an import holds it until its run is written. */
const LIMITS = { maxSeries: 20_000, maxValues: 8_000_000 };
/** Labels that Prometheus adds to what a target exposes; `up` and the like are its own series. */
const OF_TARGET = new Set(['__name__', 'job', 'instance']);
const OF_PROMETHEUS = /^(up|scrape_\w+)$/;
/** What llmbench publishes of a run, with the labels of the servers that it measured. */
const OF_LLMBENCH = /^llmbench_/;
const SUFFIX = /_(bucket|sum|count)$/;
/** Two scrapes that are further apart than this many intervals have a gap between them. */
const GAP_INTERVALS = 1.5;

/** What is known about the scrapes of one target; seconds. */
export interface RecordedScrapes {
  readonly failed: number;
  readonly interval: number;
  readonly gaps: number;
  readonly longestGap: number;
}

/** The targets that series in Prometheus come from, scrape by scrape, as if they had been collected. */
export class RecordedTargets {
  readonly #targets = new Map<string, RecordedTarget>();
  readonly #types: FamilyTypes;
  readonly #zero: number;

  /** `zero`: Unix time in seconds of the zero of the stores' times. `types`: of the families, as far as they are known. */
  constructor(zero: number, types: ReadonlyMap<string, string>) {
    this.#zero = zero;
    this.#types = new FamilyTypes(types);
  }

  /** Those of servers: not the pages of llmbench, which a selector by a model also matches. */
  get targets(): readonly RecordedTarget[] {
    return [...this.#targets.values()].filter(({ isOfLlmbench, system }) => !isOfLlmbench || system !== null);
  }

  /** Of all kinds. */
  get size(): number {
    return this.#targets.size;
  }

  /** Adds what was recorded after the stretches that were added before. */
  add({ series }: RecordedStretch): void {
    const byTarget = Map.groupBy(series, ({ labels }) => `${labels['job'] ?? ''}\0${labels['instance'] ?? ''}`);
    for (const [key, own] of byTarget) {
      const target = this.#targets.get(key) ?? new RecordedTarget(own[0]?.labels ?? {}, this.#zero, this.#types);
      this.#targets.set(key, target);
      target.add(own);
    }
  }
}

/** One series, and how far its samples have been read. */
interface OpenSeries {
  readonly family: FamilyMetadata;
  readonly start: string;
  readonly labels: RecordedSeries['labels'];
  readonly samples: RecordedSeries['samples'];
  readonly histograms: RecordedSeries['histograms'];
  next: number;
}

/** The scrapes of one target. */
export class RecordedTarget {
  readonly name: string;
  readonly store = new TargetStore(LIMITS);
  readonly #parser = createScrapeParser();
  readonly #zero: number;
  readonly #types: FamilyTypes;
  readonly #times: number[] = [];
  #failed = 0;
  /** Whether it exposes what llmbench publishes. */
  isOfLlmbench = false;

  constructor(labels: RecordedSeries['labels'], zero: number, types: FamilyTypes) {
    const { instance = '', job = '' } = labels;
    this.name = /^[^/\s]+:\d+$/.test(instance) ? `http://${instance}/metrics` : instance || job || 'unnamed';
    this.#zero = zero;
    this.#types = types;
  }

  /** The first known system whose families it has; null if none is known. */
  get system(): string | null {
    return systemsOfNames(new Set(this.store.series.map(({ family }) => family.name)))[0] ?? null;
  }

  get recorded(): RecordedScrapes {
    const steps = this.#times.slice(1).map((time, i) => time - (this.#times[i] ?? time));
    const interval = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
    const gaps = steps.filter((step) => step > GAP_INTERVALS * interval);
    return {
      failed: this.#failed,
      interval,
      gaps: gaps.length,
      // Of weeks there may be more than a call can have arguments.
      longestGap: gaps.reduce((longest, gap) => Math.max(longest, gap), 0),
    };
  }

  add(recorded: readonly RecordedSeries[]): void {
    const ups = samplesOf(recorded, 'up');
    const open = recorded.flatMap((series) => this.#open(series)).sort(inPageOrder);
    // Where `up` is there, its times are those of the scrapes.
    const times = ups?.map(([at]) => at) ?? wholeTimes(open);
    const failed = new Set(ups?.flatMap(([at, value]) => (value === 0 ? [at] : [])) ?? []);
    const durations = new Map(samplesOf(recorded, 'scrape_duration_seconds'));
    for (const at of times) {
      if (at <= (this.#times.at(-1) ?? -Infinity)) continue;
      this.#record(at, durations.get(at) ?? NaN, open, failed.has(at));
    }
  }

  #record(at: number, duration_seconds: number, open: readonly OpenSeries[], failed: boolean): void {
    const at_ns = Math.round((at - this.#zero) * 1e9);
    const interval_ns = Math.max(1, at - (this.#times.at(-1) ?? at - 1)) * 1e9;
    const times = {
      at_ns,
      sent_ns: at_ns,
      duration_ns: duration_seconds * 1e9,
      interval_ns,
      edge: false,
      unixSeconds: [at, at] as const,
    };
    this.#times.push(at);
    if (failed) {
      this.#failed += 1;
      this.store.recordFailure(times, 'Prometheus could not scrape it');
      return;
    }
    const { text, natives } = pageAt(at, open);
    this.store.recordPage(times, this.#parser.parse(new TextEncoder().encode(text), 'text/plain', natives), false);
  }

  #open({ labels, samples, histograms }: RecordedSeries): OpenSeries[] {
    const name = labels['__name__'] ?? '';
    if (OF_LLMBENCH.test(name)) this.isOfLlmbench = true;
    if (OF_LLMBENCH.test(name) || OF_PROMETHEUS.test(name) || !isMetricName(name)) return [];
    const own = Object.entries(labels).filter(([label]) => !OF_TARGET.has(label) && isLabelName(label));
    const ofSeries = Object.fromEntries(own);
    const start = `${seriesStart(name, ofSeries)} `;
    const series = (family: FamilyMetadata, ofKind: Pick<OpenSeries, 'samples' | 'histograms'>): OpenSeries[] =>
      ofKind.samples.length + ofKind.histograms.length === 0
        ? []
        : [{ family, start, labels: ofSeries, ...ofKind, next: 0 }];
    return [
      ...series(this.#types.familyOf(name, labels), { samples, histograms: [] }),
      ...series({ name, help: '', type: 'histogram' }, { samples: [], histograms }),
    ];
  }
}

/**
 * The samples of a series that Prometheus adds to what a target exposes; null without any. Throws an `ImportRefusal` if there
 * are two at the same time: of two recorders, such as a highly available pair.
 */
function samplesOf(recorded: readonly RecordedSeries[], name: string): RecordedSeries['samples'] | null {
  const first = ({ samples }: RecordedSeries): number => samples[0]?.[0] ?? 0;
  const found = recorded.filter(({ labels }) => labels['__name__'] === name).sort((a, b) => first(a) - first(b));
  for (const [i, next] of found.entries()) {
    const one = found[i - 1];
    if (one !== undefined && first(next) <= (one.samples.at(-1)?.[0] ?? 0)) throw twice(one.labels, next.labels);
  }
  return found.length === 0 ? null : found.flatMap(({ samples }) => samples);
}

function twice(one: RecordedSeries['labels'], other: RecordedSeries['labels']): ImportRefusal {
  const differing = Object.keys({ ...one, ...other }).filter((label) => one[label] !== other[label]);
  const matchers = differing.flatMap((label) => [one, other].map((of) => `${label}="${of[label] ?? ''}"`));
  return new ImportRefusal(
    `${one['instance'] ?? one['job'] ?? ''} was recorded twice at the same time: add one of ${matchers.join(', ')} to the selector`,
  );
}

/**
 * The times at which no series is missing that has samples before and after. After a crash, what is written to another server
 * can have a part of a scrape.
 */
function wholeTimes(open: readonly OpenSeries[]): readonly number[] {
  const present = new Map<number, number>();
  const begins = new Map<number, number>();
  const ends = new Map<number, number>();
  const count = (counts: Map<number, number>, at: number | undefined): void => {
    if (at !== undefined) counts.set(at, (counts.get(at) ?? 0) + 1);
  };
  for (const { samples, histograms } of open) {
    const times = [...samples, ...histograms].map(([at]) => at);
    for (const at of times) count(present, at);
    count(begins, times[0]);
    count(ends, times.at(-1));
  }
  let expected = 0;
  return [...present.keys()]
    .sort((a, b) => a - b)
    .filter((at) => {
      expected += begins.get(at) ?? 0;
      const isWhole = present.get(at) === expected;
      expected -= ends.get(at) ?? 0;
      return isWhole;
    });
}

/** The page that a target exposed at a moment: as text, and the native histograms, for which that has no place. */
function pageAt(
  at: number,
  open: readonly OpenSeries[],
): { readonly text: string; readonly natives: readonly NativeHistogramSample[] } {
  let text = '';
  let last: string | null = null;
  const natives: NativeHistogramSample[] = [];
  for (const series of open) {
    const { family, labels, samples, histograms } = series;
    const timeOf = (place: number): number => (samples[place] ?? histograms[place])?.[0] ?? Infinity;
    while (timeOf(series.next) < at) series.next += 1;
    if (timeOf(series.next) !== at) continue;
    if (family.name !== last) text += metadataLines(family, 'text');
    last = family.name;
    const [value, histogram] = [samples[series.next]?.[1], histograms[series.next]?.[1]];
    if (value !== undefined) text += `${series.start}${valueText(value)}\n`;
    if (histogram !== undefined)
      natives.push({
        ...{ family: family.name, labels, histogram },
        ...{ createdSeconds: null, timestampSeconds: null, exemplars: [] },
      });
  }
  return { text, natives };
}

function inPageOrder(a: OpenSeries, b: OpenSeries): number {
  if (a.family.name !== b.family.name) return a.family.name < b.family.name ? -1 : 1;
  return a.start < b.start ? -1 : a.start > b.start ? 1 : 0;
}

/** Which family a series belongs to: by the metadata, else by the catalogs, else by its name. */
class FamilyTypes {
  readonly #types: ReadonlyMap<string, string>;
  readonly #index = new FamilyIndex(catalogs());
  readonly #families = new Map<string, FamilyMetadata>();

  constructor(types: ReadonlyMap<string, string>) {
    this.#types = types;
  }

  familyOf(name: string, labels: RecordedSeries['labels']): FamilyMetadata {
    const base = name.replace(SUFFIX, '');
    const isOfHistogram =
      (name.endsWith('_bucket') && labels['le'] !== undefined) || (base !== name && this.#typeOf(base) === 'histogram');
    const familyName = isOfHistogram ? base : name;
    const known = this.#families.get(familyName);
    if (known !== undefined) return known;
    const stated = isOfHistogram ? 'histogram' : (this.#typeOf(name) ?? (name.endsWith('_total') ? 'counter' : null));
    const family = {
      name: familyName,
      help: '',
      type: pageType(stated),
    } as const;
    this.#families.set(familyName, family);
    return family;
  }

  #typeOf(name: string): string | null {
    // The catalogs have the time at which a counter was created under its name.
    const inCatalogs = name.endsWith('_created') ? 'gauge' : this.#index.find(name)[0]?.family.type;
    return this.#types.get(name) ?? inCatalogs ?? null;
  }
}
