import { quantities } from '../../../catalog/equivalents.ts';
import { ScalarSeries } from '../series/series.ts';
import type { TargetStore } from '../series/target-store.ts';

/** Load of the servers at their newest good scrapes; null: no server exposes it. */
export interface ServerLoadNow {
  /** Summed over the targets. */
  readonly running: number | null;
  readonly waiting: number | null;
  /** Of the fullest engine, 0 to 1. */
  readonly kvCacheUsage: number | null;
}

/** The load of the targets that were read, for a live display. */
export function loadNow(stores: readonly TargetStore[]): ServerLoadNow {
  const sum = (quantity: string): number | null => combined(stores, quantity, (a, b) => a + b);
  return {
    running: sum('requests_running') ?? sum('requests_in_flight'),
    waiting: sum('requests_waiting'),
    kvCacheUsage: combined(stores, 'kv_cache_usage', Math.max),
  };
}

function combined(
  stores: readonly TargetStore[],
  quantity: string,
  combine: (a: number, b: number) => number,
): number | null {
  const families = familiesOf(quantity);
  return stores
    .flatMap((store) => valuesOf(store, families))
    .reduce<number | null>((all, value) => (all === null ? value : combine(all, value)), null);
}

function valuesOf(store: TargetStore, families: ReadonlySet<string>): number[] {
  const scrape = store.lastOkAt(Infinity);
  if (scrape < 0) return [];
  return store.series.flatMap((series) => {
    if (!(series instanceof ScalarSeries) || !families.has(series.family.name)) return [];
    const change = series.changeAt(scrape);
    return change < 0 || series.isAbsent(change) ? [] : [series.value(change)];
  });
}

const known = new Map<string, ReadonlySet<string>>();

/** Gauges of which every series counts; those limited to some labels are only used in the files after the run. */
function familiesOf(name: string): ReadonlySet<string> {
  let families = known.get(name);
  if (families === undefined) {
    const members = quantities().find(({ quantity }) => quantity === name)?.families ?? [];
    families = new Set(members.flatMap(({ family, labels }) => (labels === undefined ? [family] : [])));
    known.set(name, families);
  }
  return families;
}
