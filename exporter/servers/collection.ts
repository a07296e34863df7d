import type { ServerTarget } from '../../core/run/result.ts';
import { percentile } from '../../core/stats/percentiles.ts';
import type { Collector } from './collector.ts';
import type { TimeWindow } from './gauge-statistics.ts';
import { repeatedSeries, type RepeatedSeries } from './same-process.ts';
import type { Series } from './series.ts';
import { windowOf, type StatisticsWindow } from './statistics.ts';
import type { TargetLoop, TargetState } from './target-loop.ts';
import type { TargetStore } from './target-store.ts';

/** One target with all that was collected of it. */
export interface CollectedTarget {
  /** The URL without user info and query. */
  readonly name: string;
  readonly system: string | null;
  readonly state: TargetState;
  readonly drains: boolean;
  readonly skipped: number;
  readonly store: TargetStore;
  readonly window: StatisticsWindow;
}

/** All that was collected, with the window that the statistics are of. */
export interface Collection {
  /** Wall time of the zero of all times here, nanoseconds since 1970. */
  readonly zeroWall_ns: bigint;
  readonly window: TimeWindow;
  /** When the counts had come to rest after the window. */
  readonly settled_ns: number;
  readonly interval_ns: number;
  /** Null: the window is not cut. */
  readonly slice_ns: number | null;
  /** Whose definitions the statistics follow. */
  readonly definitions: 'llmbench' | 'aiperf';
  readonly targets: readonly CollectedTarget[];
  /** Series that an earlier target shows too. */
  readonly repeated: RepeatedSeries;
}

export interface CollectionOptions {
  readonly zeroWall_ns: bigint;
  readonly window: TimeWindow;
  readonly settled_ns: number;
  readonly slice_ns: number | null;
  readonly definitions: Collection['definitions'];
}

/** What a collector has, seen through a window. */
export function collectionOf(collector: Collector, options: CollectionOptions): Collection {
  const stores = collector.loops.map(({ store }) => store);
  return {
    ...options,
    interval_ns: collector.interval_ns,
    targets: collector.loops.map((loop) => collectedTarget(loop, options)),
    repeated: repeatedSeries(stores),
  };
}

function collectedTarget(loop: TargetLoop, { window, settled_ns }: CollectionOptions): CollectedTarget {
  const { target, system, state, drains, skipped, store } = loop;
  return { name: target.name, system, state, drains, skipped, store, window: windowOf(store, window, settled_ns) };
}

/** The target that shows the series first, when this is not the first that does. */
export function repeats(collection: Collection, series: Series): string | null {
  const target = collection.repeated.get(series);
  return target === undefined ? null : (collection.targets[target]?.name ?? null);
}

/** A wall time of the collection, nanoseconds since 1970. */
export function wall_ns({ zeroWall_ns }: Collection, at_ns: number): bigint {
  return zeroWall_ns + BigInt(Math.round(at_ns));
}

/** How a target was collected, in result.json's words. */
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
    restarts: store.restarts.length,
    dropped_series: store.droppedSeries,
    dropped_samples: store.droppedSamples,
    notes: [...notesOf(collection, target)],
  };
}

function* notesOf({ window, repeated, targets }: Collection, target: CollectedTarget): Generator<string> {
  const { store, drains, state } = target;
  const first = firstOk(store);
  if (first === null) {
    const otherwise = state === 'several_servers' ? 'several servers answer here' : 'it ended before the first scrape';
    yield `it was never read: ${store.failureOf(store.scrapes - 1) ?? otherwise}`;
    return;
  }
  if (store.at_ns(first) > window.start_ns)
    yield `first read ${seconds(store.at_ns(first) - window.start_ns)} after the start: what came before is not known`;
  for (const restart of store.restarts) {
    const before = store.lastOkAt(store.at_ns(restart) - 1);
    yield `restarted: what it counted in up to ${seconds(store.at_ns(restart) - store.at_ns(before))} before is lost`;
  }
  const atLeast = store.droppedMoreSeries ? 'at least ' : '';
  if (store.droppedSeries > 0) yield `${atLeast}${store.droppedSeries} series are left out: there are too many`;
  if (store.droppedSamples > 0) yield `${store.droppedSamples} samples are left out: the memory for them was used up`;
  if (drains) yield 'read as iteration statistics, which other readers then do not get';
  const shared = new Set(store.series.filter((series) => repeated.has(series)).map((series) => repeated.get(series)));
  for (const other of shared) yield `part of it is also on ${targets[other ?? 0]?.name ?? ''} and is counted there`;
}

function firstOk(store: TargetStore): number | null {
  for (let scrape = 0; scrape < store.scrapes; scrape++) if (store.isOk(scrape)) return scrape;
  return null;
}

const seconds = (ns: number): string => `${Number((ns / 1e9).toPrecision(2))} s`;

/**
 * A collection made of what was recorded elsewhere: the last scrape of all is when its counts have come to rest.
 */
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
