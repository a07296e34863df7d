import type { ServersFile } from '../../core/run/servers-file.ts';
import { firstNames, things } from '../../core/text/quantities.ts';
import { RAY_REPORT_SECONDS } from '../../catalog/lookup.ts';
import type { ServersResult, ServerTarget } from '../../core/run/result.ts';
import { percentile } from '../../core/stats/percentiles.ts';
import type { TargetChange } from './discovery/search-watch.ts';
import type { Collector } from './scrape/collector.ts';
import { windowOf, type TimeWindow, type StatisticsWindow } from './series/statistics.ts';
import { repeatedSeries, type RepeatedSeries } from './series/same-process.ts';
import { HistogramSeries, isCumulative, type Series } from './series/series.ts';
import type { TargetLoop, TargetState } from './scrape/target-loop.ts';
import type { TargetStore } from './series/target-store.ts';

/** Families that a note names. */
const NAMES_IN_NOTE = 3;

/** One target with everything collected from it. */
export interface CollectedTarget {
  /** The URL without user info and query, or the program that sampled this machine. */
  readonly name: string;
  readonly system: string | null;
  readonly state: TargetState;
  readonly drains: boolean;
  readonly skipped: number;
  readonly store: TargetStore;
  readonly window: StatisticsWindow;
}

/** Everything collected, with the window that the statistics cover. */
export interface Collection {
  /** Wall time at which all times of the collection are 0, nanoseconds since 1970. */
  readonly zeroWall_ns: bigint;
  readonly window: TimeWindow;
  /** When the counts had settled after the window. */
  readonly settled_ns: number;
  readonly interval_ns: number;
  /** Null: the window is not divided into slices. */
  readonly slice_ns: number | null;
  /** Which tool's definitions the statistics follow. */
  readonly definitions: ServersFile['definitions'];
  readonly targets: readonly CollectedTarget[];
  /** Series that an earlier target also exposes. */
  readonly repeated: RepeatedSeries;
  /** Which targets joined or left since the collection began; absent: none. */
  readonly changes?: readonly TargetChange[];
}

export interface CollectionOptions {
  readonly zeroWall_ns: bigint;
  readonly window: TimeWindow;
  readonly settled_ns: number;
  readonly slice_ns: number | null;
  readonly definitions: Collection['definitions'];
  readonly changes?: readonly TargetChange[];
}

/** What a collector has collected, over a window, and what a program sampled on this machine. */
export function collectionOf(
  collector: Collector,
  options: CollectionOptions,
  local: readonly { readonly name: string; readonly store: TargetStore }[] = [],
): Collection {
  const { window, settled_ns } = options;
  const stores = [...collector.loops, ...local].map(({ store }) => store);
  return {
    ...options,
    interval_ns: collector.interval_ns,
    targets: [
      ...collector.loops.map((loop) => collectedTarget(loop, options)),
      ...local.map(({ name, store }): CollectedTarget => {
        const read = { system: null, state: 'up', drains: false, skipped: 0 } as const;
        return { name, ...read, store, window: windowOf(store, window, settled_ns) };
      }),
    ],
    repeated: repeatedSeries(stores),
  };
}

function collectedTarget(loop: TargetLoop, { window, settled_ns }: CollectionOptions): CollectedTarget {
  const { target, system, state, drains, skipped, store } = loop;
  return { name: target.name, system, state, drains, skipped, store, window: windowOf(store, window, settled_ns) };
}

/** The first target that exposes the series; null when it is this one. */
export function repeats(collection: Collection, series: Series): string | null {
  const target = collection.repeated.get(series);
  return target === undefined ? null : (collection.targets[target]?.name ?? null);
}

/** A wall time of the collection, nanoseconds since 1970. */
export function wall_ns({ zeroWall_ns }: Collection, at_ns: number): bigint {
  return zeroWall_ns + BigInt(Math.round(at_ns));
}

/** Which targets joined or left, in the form of result.json. */
export function targetChanges(collection: Collection): Pick<ServersResult, 'target_changes'> {
  const { changes = [] } = collection;
  if (changes.length === 0) return {};
  const time = (at_ns: number): string => new Date(Number(wall_ns(collection, at_ns) / 1_000_000n)).toISOString();
  return { target_changes: changes.map(({ at_ns, target, change }) => ({ time: time(at_ns), target, change })) };
}

/** How a target was collected, in the form of result.json. */
export function targetResult(collection: Collection, target: CollectedTarget): ServerTarget {
  const { store } = target;
  const scrapes = Array.from({ length: store.scrapes }, (_, scrape) => scrape);
  const good = scrapes.filter((scrape) => store.isOk(scrape));
  const durations = Float64Array.from(good, (scrape) => store.duration_ns(scrape) / 1e9).sort();
  const quantile = (q: number): number | null => (durations.length === 0 ? null : percentile(durations, q));
  return {
    target: target.name,
    system: target.system,
    state: target.state,
    scrapes: good.length,
    failed_scrapes: store.scrapes - good.length,
    skipped_scrapes: target.skipped,
    scrape_duration_seconds: { p50: quantile(0.5), p99: quantile(0.99) },
    restarts: inWindow(target, store.restarts).length,
    dropped_series: store.droppedSeries,
    dropped_samples: store.droppedSamples,
    notes: [...notesOf(collection, target)],
  };
}

/** Those of the scrapes that the window of the target counts. */
const inWindow = ({ window: { range } }: CollectedTarget, scrapes: readonly number[]): readonly number[] =>
  scrapes.filter((scrape) => scrape > range.from && scrape <= range.to);

/** Whether the increase of its counts is unknown, as its process may have restarted, or there are several. */
export const isUncertain = (target: CollectedTarget): boolean =>
  target.store.severalServers !== null || inWindow(target, target.store.unclear).length > 0;

function* notesOf(collection: Collection, target: CollectedTarget): Generator<string> {
  const { window, repeated, targets, changes = [] } = collection;
  const { store, drains, state } = target;
  for (const { at_ns, change, target: changed } of changes)
    if (changed === target.name) yield `${change} ${sinceStart(at_ns - window.start_ns)}`;
  const first = firstOk(store);
  if (first === null) {
    const otherwise =
      state === 'several_servers'
        ? 'several servers answer at this address'
        : 'the collection ended before the first scrape';
    yield `no page was read: ${store.failureOf(store.scrapes - 1) ?? otherwise}`;
    return;
  }
  if (store.at_ns(first) > window.start_ns) {
    const before = store.startedSince(window.start_ns)
      ? 'its process started in that time and is counted from 0'
      : 'earlier values are unknown';
    yield `first read ${seconds(store.at_ns(first) - window.start_ns)} after the start: ${before}`;
  }
  for (const restart of inWindow(target, store.restarts)) {
    const before = store.lastOkAt(store.at_ns(restart) - 1);
    yield `restarted: its counts of up to ${seconds(store.at_ns(restart) - store.at_ns(before))} before the restart are lost`;
  }
  for (const scrape of inWindow(target, store.unclear)) {
    const moment = seconds(store.at_ns(scrape) - window.start_ns);
    yield `it may have restarted ${moment} after the start: the increase of its counts there is unknown`;
  }
  if (store.severalServers !== null)
    yield `several servers answer at this address: ${store.severalServers}; their counts are unknown`;
  const { repeated: duplicates, samples } = store.duplicates;
  if (duplicates > 0) yield `${duplicates} of ${samples} samples on its page are duplicates and are ignored`;
  const untyped = [...store.untypedHistograms];
  if (untyped.length > 0)
    yield `read as histograms although the page has no TYPE for them: ${firstNames(untyped, NAMES_IN_NOTE)}`;
  const older = store.series.filter((series) => isCumulative(series) && !series.startsAtZero && series.bornAt > first);
  if (older.length > 0) {
    const families = [...new Set(older.map(({ family }) => family.name))];
    yield `appeared late on its page, so that their earlier counts are unknown: ${firstNames(families, NAMES_IN_NOTE)}`;
  }
  if (store.cutPages > 0)
    yield `its page ended without a newline in ${things(store.cutPages, 'scrapes')}: the last line was not used`;
  if (store.isOfRay) yield `Ray exposes values up to ${RAY_REPORT_SECONDS} s after the engine counted them`;
  if (store.omitsSums)
    yield 'sums of histograms are not used: Ray makes them of the middles of the buckets, so that means are unknown';
  const replaced = store.series.filter((series) => series instanceof HistogramSeries && series.predecessor !== null);
  if (replaced.length > 0) {
    const families = [...new Set(replaced.map(({ family }) => family.name))];
    yield `the buckets of histograms on its page changed, and each set of them is reported by itself: ${firstNames(families, NAMES_IN_NOTE)}`;
  }
  const atLeast = store.droppedMoreSeries ? 'at least ' : '';
  if (store.droppedSeries > 0)
    yield `${atLeast}${store.droppedSeries} series are not stored: the limit on series was reached`;
  if (store.droppedSamples > 0) yield `${store.droppedSamples} samples are not stored: the memory limit was reached`;
  if (drains) yield 'read as iteration statistics, which other readers then miss';
  const shared = new Set(store.series.filter((series) => repeated.has(series)).map((series) => repeated.get(series)));
  for (const other of shared)
    yield `some of its series are also on ${targets[other ?? 0]?.name ?? ''} and are counted there`;
}

function firstOk(store: TargetStore): number | null {
  for (let scrape = 0; scrape < store.scrapes; scrape++) if (store.isOk(scrape)) return scrape;
  return null;
}

const sinceStart = (ns: number): string => `${seconds(Math.abs(ns))} ${ns < 0 ? 'before' : 'after'} the start`;

const seconds = (ns: number): string => `${Number((ns / 1e9).toPrecision(2))} s`;

/** A collection built from scrapes recorded elsewhere: its counts settle at the last scrape of all targets. */
export function collectionOfStores(
  recorded: readonly { readonly name: string; readonly system: string | null; readonly store: TargetStore }[],
  options: Pick<Collection, 'zeroWall_ns' | 'window' | 'interval_ns' | 'definitions' | 'slice_ns'>,
): Collection {
  const stores = recorded.map(({ store }) => store);
  const settled_ns = Math.max(options.window.end_ns, ...stores.map((store) => store.at_ns(store.scrapes - 1)));
  return {
    ...options,
    settled_ns,
    repeated: repeatedSeries(stores),
    targets: recorded.map((target) => ({
      ...target,
      state: 'up',
      drains: false,
      skipped: 0,
      window: windowOf(target.store, options.window, settled_ns),
    })),
  };
}
