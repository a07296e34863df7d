import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { replaceFile, replaceWhenWritten, besideOutput } from '../../../files/durable-file.ts';
import { wall_ns, type Collection, type CollectedTarget } from '../../collection.ts';
import {
  aiperfName,
  isLeftOut,
  sorted,
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportInfo,
  aiperfFamilies,
  sliceTimes,
  type AiperfFamily,
  type AiperfSeries,
} from './aiperf-view.ts';
import { writeServerMetricsParquet } from './server-metrics-parquet.ts';
import { HistogramSeries, type ScalarSeries, type Series } from '../../series/series.ts';
import type { BucketCounts } from '../../../../core/run/servers-file.ts';
import { mean, median } from '../../../../core/stats/percentiles.ts';
import { AIPERF_PERCENTILES, type AiperfSlice } from '../../summary/aiperf-statistics.ts';

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

const PERCENTILES = AIPERF_PERCENTILES.map((p) => `p${p}`);
const GAUGE = ['avg', 'min', 'max', 'std', ...PERCENTILES];
const COUNTER = ['total', 'rate', 'rate_avg', 'rate_min', 'rate_max', 'rate_std'];
const HISTOGRAM = ['count', 'count_rate', 'sum', 'sum_rate', 'avg', ...PERCENTILES.map((name) => `${name}_estimate`)];

/** Statistics that are whole numbers; all others get four decimals. */
const COUNTS: ReadonlySet<string> = new Set(['count']);

interface CsvRow extends AiperfSeries {
  readonly family: AiperfFamily;
}

/**
 * `server_metrics_export.csv` in AIPerf's form (schema 1.0): one section per type, separated by blank lines; rows end
 * in CR LF. A text cell that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.
 */
function serverMetricsCsv(collection: Collection, { tool, id }: ExportInfo): string {
  const families = aiperfFamilies(collection);
  const rows = families.flatMap((family) => family.series.map((each): CsvRow => ({ ...each, family })));
  const isInfo = ({ family }: CsvRow): boolean => family.name.endsWith('_info');
  const of = (type: AiperfFamily['type']): CsvRow[] => rows.filter((row) => row.family.type === type && !isInfo(row));
  const preamble = [
    '# AIPerf Server Metrics Export (CSV)',
    `# aiperf_version: ${tool}`,
    '# schema_version: 1.0',
    `# benchmark_id: ${id}`,
    `# statistics_definitions: ${collection.definitions}`,
    '#',
  ].map((line) => `${line.replace(/[\r\n]/g, ' ')}\n`);
  const sections = [
    section(of('gauge'), GAUGE),
    section(of('counter'), COUNTER),
    section(of('histogram'), HISTOGRAM),
    section(of('unknown'), GAUGE),
    infoSection(rows.filter(isInfo)),
  ].filter((lines) => lines.length > 0);
  const body = sections.map((lines) => lines.map((line) => `${line}\r\n`).join(''));
  return `${preamble.join('')}${body.join('\r\n')}`;
}

function section(rows: readonly CsvRow[], statistics: readonly string[]): string[] {
  if (rows.length === 0) return [];
  const labels = [...new Set(rows.flatMap(({ series }) => Object.keys(series.labels)))].sort();
  const buckets = rows[0]?.family.type === 'histogram' ? ['buckets'] : [];
  const head = ['Endpoint', 'Type', 'Metric', 'Unit', ...statistics, ...labels, 'Description', ...buckets];
  return [line(head), ...rows.map((row) => line(cells(row, statistics, labels, buckets.length > 0)))];
}

function cells(
  { family, target, series, statistics }: CsvRow,
  names: readonly string[],
  labels: readonly string[],
  withBuckets: boolean,
): string[] {
  return [
    hostOf(target),
    family.type,
    cell(family.name),
    family.unit ?? '',
    ...names.map((name) => number(name, statistics.stats[name])),
    ...labels.map((label) => cell(series.labels[label] ?? '')),
    cell(family.description),
    ...(withBuckets ? [(statistics.buckets ?? []).map(([le, count]) => `${le}=${count}`).join(';')] : []),
  ];
}

function infoSection(rows: readonly CsvRow[]): string[] {
  const lines = rows.flatMap(({ family, target, series }) =>
    Object.entries(series.labels).map(([key, value]) =>
      line([hostOf(target), cell(family.name), cell(key), cell(value), cell(family.description)]),
    ),
  );
  return lines.length === 0 ? [] : [line(['Endpoint', 'Metric', 'Key', 'Value', 'Description']), ...lines];
}

/** Local GPUs have the name of the program that sampled them. */
const hostOf = ({ name }: CollectedTarget): string => URL.parse(name)?.host ?? name;

function number(name: string, value: number | undefined): string {
  if (value === undefined) return '';
  return COUNTS.has(name) ? String(value) : value.toFixed(4);
}

/** Text from a page, which is not trusted. */
function cell(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function line(texts: readonly string[]): string {
  return texts.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',');
}

/** Marks whole numbers beyond 2^53 until the text is written; a control character that no label contains. */
const MARK = '\u0001ns:';

/** Preserves the order of a key: an object lists integer keys first. */
const KEY_MARK = '\u0001le:';

/** Buckets as an object whose keys are written in the order given. */
function orderedBuckets(buckets: BucketCounts): Record<string, number> {
  return Object.fromEntries(buckets.map(([le, count]) => [`${KEY_MARK}${le}`, count]));
}

/** JSON with whole numbers of any size, and buckets in their order. `indent` 0: one line. */
function jsonText(value: unknown, indent = 0): string {
  const marked = JSON.stringify(
    value,
    (_key, each: unknown) => (typeof each === 'bigint' ? `${MARK}${each}` : each),
    indent,
  );
  return marked.replace(/"\\u0001ns:(-?\d+)"/g, '$1').replaceAll('"\\u0001le:', '"');
}

/**
 * `server_metrics_export.json` in AIPerf's form (schema 1.1): fields, units and file name are those of AIPerf, so that
 * scripts written for it work. `statistics_definitions` names the tool whose definitions the numbers follow.
 */
function serverMetricsJson(collection: Collection, { tool, id }: ExportInfo): string {
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

/** ISO 8601 in local time without a zone, in microseconds, as AIPerf writes it. */
function localTime(at_ns: bigint): string {
  const date = new Date(Number(at_ns / 1_000_000n));
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  return `${local}.${String((at_ns / 1000n) % 1_000_000n).padStart(6, '0')}`;
}
