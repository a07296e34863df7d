import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { replaceFile, replaceWhenWritten, besideOutput } from '../../../files/durable-file.ts';
import { wall_ns, type Collection, type CollectedTarget } from '../../collection.ts';
import { aiperfName, isLeftOut, sorted } from './aiperf-view.ts';
import { EXPORT_FORMATS, type ExportFormat, type ExportInfo } from './export-info.ts';
import { serverMetricsCsv, serverMetricsJson, jsonText, orderedBuckets } from './server-metrics-text.ts';
import { writeServerMetricsParquet } from './server-metrics-parquet.ts';
import { HistogramSeries, type ScalarSeries, type Series } from '../../series/series.ts';

/**
 * Writes AIPerf's files `server_metrics_export.<format>` into a directory and returns their paths; an empty Parquet
 * file is not written. Throws file system errors.
 */
export async function writeExports(
  directory: string,
  formats: readonly ExportFormat[],
  collection: Collection,
  info: ExportInfo,
): Promise<string[]> {
  const written: string[] = [];
  for (const format of EXPORT_FORMATS.filter((each) => formats.includes(each))) {
    const path = join(directory, `server_metrics_export.${format}`);
    if (await write(format, path, collection, info)) written.push(path);
  }
  return written;
}

async function write(format: ExportFormat, path: string, collection: Collection, info: ExportInfo): Promise<boolean> {
  switch (format) {
    case 'json':
      await replaceFile(path, serverMetricsJson(collection, info), besideOutput);
      return true;
    case 'csv':
      await replaceFile(path, serverMetricsCsv(collection, info), besideOutput);
      return true;
    case 'jsonl':
      await replaceWhenWritten(path, (temporary) => writeLines(temporary, serverMetricsLines(collection)));
      return true;
    case 'parquet':
      return writeServerMetricsParquet(path, collection, info);
  }
}

async function writeLines(path: string, lines: Iterable<string>): Promise<void> {
  const stream = createWriteStream(path);
  for (const line of lines) if (!stream.write(line)) await once(stream, 'drain');
  stream.end();
  await finished(stream);
}

/**
 * Lines of `server_metrics_export.jsonl` in AIPerf's form: one per scrape whose page had changed, with the values as
 * exposed, from before the run to after it. Sorted by time across all targets.
 */
function* serverMetricsLines(collection: Collection): Generator<string> {
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
  const metrics = new Map<string, unknown[]>();
  for (const series of store.series) {
    const change = series.changeAt(scrape);
    if (isLeftOut(series.family) || change < 0 || series.isAbsent(change)) continue;
    const name = aiperfName(series.family);
    const samples = metrics.get(name);
    if (samples === undefined) metrics.set(name, [sampleOf(series, change)]);
    else samples.push(sampleOf(series, change));
  }
  const at = wall_ns(collection, store.at_ns(scrape));
  return {
    endpoint_url: name,
    timestamp_ns: at,
    endpoint_latency_ns: Math.round(store.duration_ns(scrape)),
    request_sent_ns: wall_ns(collection, store.sent_ns(scrape)),
    first_byte_ns: at,
    metrics: Object.fromEntries(metrics) as unknown,
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
