import type { Collection } from '../collection.ts';
import { windowOf } from '../series/statistics.ts';
import type { TargetStore } from '../series/target-store.ts';
import { aiperfExport, aiperfScrapes } from './aiperf-recording.ts';

/** AIPerf's own scrapes of a recorded run as a collection of ours, with its window. */
export function aiperfCollection(run: string, definitions: Collection['definitions'] = 'aiperf'): Collection {
  const reference = aiperfExport(run);
  const { start_ns: zeroWall_ns, end_ns } = reference.summary.phase_time_ranges.profiling;
  const window = { start_ns: 0, end_ns: Number(end_ns - zeroWall_ns) };
  const stores = [...aiperfScrapes(run, reference, zeroWall_ns)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return collectionOfStores(new Map(stores), { zeroWall_ns, window, definitions, slice_ns: 2e9 });
}

/** A collection made of what was recorded; it settles with the last scrape. */
export function collectionOfStores(
  stores: ReadonlyMap<string, TargetStore>,
  options: Pick<Collection, 'zeroWall_ns' | 'window' | 'definitions' | 'slice_ns'>,
): Collection {
  const settled_ns = Math.max(
    options.window.end_ns,
    ...Array.from(stores.values(), (store) => store.at_ns(store.scrapes - 1)),
  );
  return {
    ...options,
    settled_ns,
    interval_ns: 1e9,
    repeated: new Map(),
    targets: Array.from(stores, ([name, store]) => ({
      name,
      system: null,
      state: 'up' as const,
      drains: false,
      skipped: 0,
      store,
      window: windowOf(store, options.window, settled_ns),
    })),
  };
}
