import { median } from '../../../../core/stats/percentiles.ts';
import type { AiperfSlice } from '../../summary/aiperf-statistics.ts';
import { wall_ns, type CollectedTarget, type Collection } from '../../collection.ts';
import { aiperfFamilies, sliceTimes, sorted, type AiperfSeries } from './aiperf-view.ts';
import type { ExportInfo } from './export-info.ts';
import { jsonText, orderedBuckets } from './json-text.ts';

/**
 * `server_metrics_export.json` in AIPerf's form (schema 1.1): fields, units and file name are those of AIPerf, so that
 * scripts written for it work. `statistics_definitions` names the tool whose definitions the numbers follow.
 */
export function serverMetricsJson(collection: Collection, { tool, id }: ExportInfo): string {
  const { window, targets, definitions } = collection;
  const start_ns = wall_ns(collection, window.start_ns);
  const end_ns = wall_ns(collection, window.end_ns);
  const metrics = aiperfFamilies(collection).map(({ name, type, description, unit, series }) => [
    name,
    { type, description, ...(unit === null ? {} : { unit }), series: series.map((each) => seriesOf(collection, each)) },
  ]);
  return `${jsonText(
    {
      schema_version: '1.1',
      aiperf_version: tool,
      statistics_definitions: definitions,
      benchmark_id: id,
      summary: {
        endpoints_configured: targets.map(({ name }) => name),
        endpoints_successful: targets.filter(({ store }) => store.lastOkAt(Infinity) >= 0).map(({ name }) => name),
        start_time: localTime(start_ns),
        end_time: localTime(end_ns),
        endpoint_info: Object.fromEntries(targets.flatMap((target) => endpointInfo(collection, target))),
        phase_time_ranges: { profiling: { start_ns, end_ns } },
      },
      metrics_phase: 'profiling',
      metrics: Object.fromEntries(metrics) as unknown,
      input_config: {},
    },
    2,
  )}\n`;
}

function seriesOf(collection: Collection, { target, series, statistics }: AiperfSeries) {
  const { stats, buckets, timeslices } = statistics;
  const labels = sorted(series.labels);
  return {
    endpoint_url: target.name,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    stats,
    ...(buckets === undefined ? {} : { buckets: orderedBuckets(buckets) }),
    ...(timeslices.length === 0 ? {} : { timeslices: timeslices.map((slice) => sliceOf(collection, slice)) }),
  };
}

function sliceOf(collection: Collection, slice: AiperfSlice) {
  const { complete, stats, buckets } = slice;
  return {
    ...sliceTimes(collection, slice),
    ...(complete ? {} : { is_complete: false }),
    ...stats,
    ...(buckets === undefined ? {} : { buckets: orderedBuckets(buckets) }),
  };
}

/** Empty for a target that was never read. */
function endpointInfo(collection: Collection, { name, store }: CollectedTarget): [string, unknown][] {
  const good = Array.from({ length: store.scrapes }, (_, scrape) => scrape).filter((scrape) => store.isOk(scrape));
  const updates = good.filter((scrape) => !store.isRepeat(scrape));
  const first = good[0];
  const last = good.at(-1);
  const firstUpdate = updates[0];
  const lastUpdate = updates.at(-1);
  if (first === undefined || last === undefined || firstUpdate === undefined || lastUpdate === undefined) return [];
  const latencies = good.map((scrape) => store.duration_ns(scrape) / 1e6);
  const gaps = updates.slice(1).map((scrape, i) => (store.at_ns(scrape) - store.at_ns(updates[i] ?? 0)) / 1e6);
  const wall = (scrape: number): bigint => wall_ns(collection, store.at_ns(scrape));
  return [
    [
      name,
      {
        total_fetches: good.length,
        first_fetch_ns: wall(first),
        last_fetch_ns: wall(last),
        avg_fetch_latency_ms: mean(latencies),
        unique_updates: updates.length,
        first_update_ns: wall(firstUpdate),
        last_update_ns: wall(lastUpdate),
        duration_seconds: (store.at_ns(lastUpdate) - store.at_ns(firstUpdate)) / 1e9,
        ...(gaps.length === 0 ? {} : { avg_update_interval_ms: mean(gaps), median_update_interval_ms: median(gaps) }),
      },
    ],
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** ISO 8601 in local time without a zone, in microseconds, as AIPerf writes it. */
function localTime(at_ns: bigint): string {
  const date = new Date(Number(at_ns / 1_000_000n));
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  return `${local}.${String((at_ns / 1000n) % 1_000_000n).padStart(6, '0')}`;
}
