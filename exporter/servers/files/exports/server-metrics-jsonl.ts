import { wall_ns, type CollectedTarget, type Collection } from '../../collection.ts';
import { HistogramSeries, type ScalarSeries, type Series } from '../../series/series.ts';
import { aiperfName, isLeftOut, sorted } from './aiperf-view.ts';
import { jsonText, orderedBuckets } from './json-text.ts';

/**
 * Lines of `server_metrics_export.jsonl` in AIPerf's form: one per scrape whose page had changed, with the values as
 * exposed, from before the run to after it. Sorted by time across all targets.
 */
export function* serverMetricsLines(collection: Collection): Generator<string> {
  const scrapes = collection.targets.flatMap((target) =>
    Array.from({ length: target.store.scrapes }, (_, scrape) => ({
      target,
      scrape,
      at_ns: target.store.at_ns(scrape),
    })),
  );
  scrapes.sort((a, b) => a.at_ns - b.at_ns);
  for (const { target, scrape } of scrapes) {
    if (!target.store.isOk(scrape) || target.store.isRepeat(scrape)) continue;
    yield `${jsonText(lineOf(collection, target, scrape))}\n`;
  }
}

function lineOf(collection: Collection, { name, store }: CollectedTarget, scrape: number) {
  const metrics: Record<string, unknown[]> = {};
  for (const series of store.series) {
    const change = series.changeAt(scrape);
    if (isLeftOut(series.family) || change < 0 || series.isAbsent(change)) continue;
    (metrics[aiperfName(series.family)] ??= []).push(sampleOf(series, change));
  }
  const at = wall_ns(collection, store.at_ns(scrape));
  return {
    endpoint_url: name,
    timestamp_ns: at,
    endpoint_latency_ns: Math.round(store.duration_ns(scrape)),
    request_sent_ns: wall_ns(collection, store.sent_ns(scrape)),
    first_byte_ns: at,
    metrics,
  };
}

function sampleOf(series: Series, change: number) {
  const labels = sorted(series.labels);
  const named = Object.keys(labels).length === 0 ? {} : { labels };
  if (!(series instanceof HistogramSeries)) return { ...named, value: (series as ScalarSeries).value(change) };
  const sum = series.sum(change);
  return {
    ...named,
    buckets: orderedBuckets(series.boundTexts.map((le, bucket) => [le, series.count(change, bucket)])),
    ...(Number.isFinite(sum) ? { sum } : {}),
    count: series.total(change),
  };
}
