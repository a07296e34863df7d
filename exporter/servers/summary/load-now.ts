import { quantities } from '../../../catalog/equivalents.ts';
import { ScalarSeries, type Series } from '../series/series.ts';
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

/**
 * Requests that a server holds: running and waiting. TensorRT-LLM's `trtllm_num_requests_running` keeps its last value
 * on an idle server; the number last scheduled does not.
 */
const LOAD_FAMILIES: ReadonlySet<string> = new Set([
  'vllm:num_requests_running',
  'vllm:num_requests_waiting',
  'sglang:num_running_reqs',
  'sglang:num_queue_reqs',
  'dynamo_frontend_inflight_requests',
  'dynamo_frontend_queued_requests',
  'dynamo_engine_request',
  'trtllm_scheduled_batch_size',
  'nv_inference_pending_request_count',
  'smg_worker_requests_active',
  'tgi_queue_size',
  'tgi_batch_current_size',
  'num_requests_running',
  'num_requests_waiting',
]);

/**
 * Families that show that requests have been counted: those of requests and tokens, except the HTTP requests for the
 * page itself.
 */
const COUNTS = /request|token|inference_count/;
const NOT_COUNTS = /^(http|process|python|go|promhttp)_|^smg_http_|connections|bytes/;

/** Requests running and waiting at the newest good scrape; null: the target has no such gauge, or was not read. */
export function serverLoad(store: TargetStore): number | null {
  const scrape = store.lastOkAt(Infinity);
  if (scrape < 0) return null;
  let load: number | null = null;
  for (const series of store.series) {
    if (!(series instanceof ScalarSeries) || !LOAD_FAMILIES.has(series.family.name)) continue;
    const change = series.changeAt(scrape);
    if (change >= 0 && !series.isAbsent(change)) load = (load ?? 0) + series.value(change);
  }
  return load;
}

/** Whether no count of requests or tokens changed at the newest good scrape. */
export function countsRest(store: TargetStore): boolean {
  const scrape = store.lastOkAt(Infinity);
  return !store.series.some((series) => isCount(series) && series.scrapeOf(series.changes - 1) === scrape);
}

/** Whether any count of requests or tokens changed after that scrape. */
export function countsMoved(store: TargetStore, since: number): boolean {
  return store.series.some(
    (series) => isCount(series) && series.hasValueAt(Infinity) && series.scrapeOf(series.changes - 1) > since,
  );
}

function isCount({ family: { name, type } }: Series): boolean {
  return (type === 'counter' || type === 'histogram') && COUNTS.test(name) && !NOT_COUNTS.test(name);
}
