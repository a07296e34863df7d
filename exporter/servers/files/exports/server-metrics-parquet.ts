import { hostname } from 'node:os';
import type { SchemaElement } from 'hyparquet';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { replaceWhenWritten } from '../../../files/durable-file.ts';
import { wall_ns, type Collection } from '../../collection.ts';
import { HistogramSeries, isCumulative, type ScalarSeries, type Series } from '../../series/series.ts';
import type { TargetStore } from '../../series/target-store.ts';
import { aiperfFamilies, type AiperfFamily, type AiperfSeries, type ExportInfo } from './aiperf-view.ts';

type ParquetRow = Readonly<Record<string, string | number | bigint | null>>;

const BEFORE = ['endpoint_url', 'metric_name', 'metric_type', 'unit', 'description', 'timestamp_ns'] as const;
const AFTER = ['value', 'sum', 'count', 'bucket_le', 'bucket_count'] as const;
const RESERVED: ReadonlySet<string> = new Set<string>([...BEFORE, ...AFTER]);
const ROWS_PER_GROUP = 10_000;

/**
 * Writes `server_metrics_export.parquet` in AIPerf's form (schema 1.0): one row per sample of the window, for
 * histograms one per bucket (each row repeats sum and count); gauges as exposed, cumulative series as their increase
 * since the reference scrape, never below 0. One column per label; labels named like another column are omitted, as
 * AIPerf does. Returns false when there are no rows; no file is written then.
 */
export async function writeServerMetricsParquet(
  path: string,
  collection: Collection,
  info: ExportInfo,
): Promise<boolean> {
  const families = aiperfFamilies(collection);
  if (families.every(({ series }) => series.length === 0)) return false;
  await replaceWhenWritten(path, (temporary) => writeFamilies(temporary, families, collection, info));
  return true;
}

async function writeFamilies(
  path: string,
  families: readonly AiperfFamily[],
  collection: Collection,
  info: ExportInfo,
): Promise<void> {
  const all = families.flatMap(({ series }) => series);
  const labels = [...new Set(all.flatMap(({ series }) => Object.keys(series.labels)))]
    .filter((name) => !RESERVED.has(name))
    .sort();
  const columns = [...BEFORE, ...labels, ...AFTER];
  const parquet = new ParquetWriter({
    writer: fileWriter(path),
    schema: [{ name: 'schema', num_children: columns.length }, ...columns.map(element)],
    kvMetadata: Object.entries(metadata(collection, families, labels, info)).map(([key, value]) => ({
      key: `aiperf.${key}`,
      value,
    })),
    createdBy: info.tool,
  });
  let rows: ParquetRow[] = [];
  const write = async (): Promise<void> => {
    const group = rows;
    rows = [];
    await parquet.write({
      columnData: columns.map((name) => ({ name, data: group.map((row) => row[name] ?? null) })),
      rowGroupSize: group.length,
    });
    await new Promise((resume) => setImmediate(resume));
  };
  for (const family of families) {
    for (const each of family.series) {
      for (const row of rowsOf(collection, family, each)) {
        rows.push(row);
        if (rows.length >= ROWS_PER_GROUP) await write();
      }
    }
  }
  if (rows.length > 0) await write();
  await parquet.finish();
}

function element(name: string): SchemaElement {
  if (name === 'timestamp_ns') return { name, type: 'INT64', repetition_type: 'OPTIONAL' };
  const isNumber = name === 'value' || name === 'sum' || name === 'count' || name === 'bucket_count';
  if (isNumber) return { name, type: 'DOUBLE', repetition_type: 'OPTIONAL' };
  return {
    name,
    type: 'BYTE_ARRAY',
    converted_type: 'UTF8',
    logical_type: { type: 'STRING' },
    repetition_type: 'OPTIONAL',
  };
}

/** Inherits nothing: a label may be named `constructor`, and most rows lack it. */
const plainRow = (row: ParquetRow): ParquetRow => Object.assign(Object.create(null) as ParquetRow, row);

function* rowsOf(
  collection: Collection,
  family: AiperfFamily,
  { target, series }: AiperfSeries,
): Generator<ParquetRow> {
  const { store, window } = target;
  const common = {
    ...Object.fromEntries(Object.entries(series.labels).filter(([name]) => !RESERVED.has(name))),
    endpoint_url: target.name,
    metric_name: family.name,
    metric_type: family.type,
    unit: family.unit,
    description: family.description,
  };
  const reference = referenceOf(series, store, window.range.from);
  for (let scrape = 0; scrape <= window.range.to; scrape++) {
    if (!store.isOk(scrape) || store.sent_ns(scrape) < window.start_ns) continue;
    const change = series.changeAt(scrape);
    if (change < 0 || series.isAbsent(change)) continue;
    const timestamped = { ...common, timestamp_ns: wall_ns(collection, store.at_ns(scrape)) };
    if (!(series instanceof HistogramSeries)) {
      const value =
        (series as ScalarSeries).value(change) - (reference === null ? 0 : (series as ScalarSeries).value(reference));
      yield plainRow({ ...timestamped, value: isCumulative(series) ? Math.max(0, value) : value });
      continue;
    }
    const gained = (of: (change: number) => number): number =>
      Math.max(0, of(change) - (reference === null ? 0 : of(reference)));
    const sum = gained((each) => series.sum(each));
    const count = gained((each) => series.total(each));
    for (const [bucket, le] of series.boundTexts.entries()) {
      yield plainRow({
        ...timestamped,
        sum: Number.isFinite(sum) ? sum : null,
        count,
        bucket_le: le,
        bucket_count: gained((each) => series.count(each, bucket)),
      });
    }
  }
}

/** The change from which cumulative values are counted; null: from 0 (gauges, and series born on a known target). */
function referenceOf(series: Series, store: TargetStore, from: number): number | null {
  if (!isCumulative(series)) return null;
  const change = from < 0 ? -1 : series.changeAt(from);
  if (change >= 0 && !series.isAbsent(change)) return change;
  if (series.startsAtZero && series.bornAt > from) return null;
  const first =
    series.changeAt(store.scrapes - 1) < 0
      ? -1
      : (Array.from({ length: series.changes }, (_, i) => i).find((i) => !series.isAbsent(i)) ?? -1);
  return first < 0 ? null : first;
}

function metadata(
  collection: Collection,
  families: readonly AiperfFamily[],
  labels: readonly string[],
  { tool, id }: ExportInfo,
): Record<string, string> {
  const { window, targets } = collection;
  const names = targets.map(({ name }) => name);
  const types = (type: AiperfFamily['type']): number => families.filter((family) => family.type === type).length;
  const duration_ns = Math.round(window.end_ns - window.start_ns);
  return {
    schema_version: '1.0',
    version: tool,
    benchmark_id: id,
    export_timestamp_utc: new Date().toISOString(),
    exporter: tool,
    hostname: hostname(),
    time_filter_start_ns: String(wall_ns(collection, window.start_ns)),
    time_filter_end_ns: String(wall_ns(collection, collection.settled_ns)),
    profiling_duration_ns: String(duration_ns),
    profiling_duration_seconds: String(duration_ns / 1e9),
    endpoint_urls: JSON.stringify(names),
    endpoint_count: String(names.length),
    label_columns: JSON.stringify(labels),
    label_count: String(labels.length),
    metric_count: String(families.length),
    metric_type_counts: JSON.stringify({
      gauge: types('gauge'),
      counter: types('counter'),
      histogram: types('histogram'),
      unknown: types('unknown'),
    }),
    schema_note: 'Label columns vary by endpoint/model. Use union_by_name=true for cross-file queries.',
  };
}
