import { zstdCompressSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { syncPath } from '../../files/durable-file.ts';
import { wall_ns, type CollectedTarget, type Collection } from '../collection.ts';
import { HistogramSeries, type ScalarSeries, type Series } from '../series/series.ts';

/**
 * One sample of a server, as Prometheus stores it: buckets, sum and count of a histogram are separate rows.
 *
 * Only changes are rows: a value holds until the next row of its series; the first and the last scrape of a series
 * always have a row. A null value: the page had none. `up` (1 or 0) and `scrape_duration_seconds` describe each scrape.
 */
export interface SampleRow {
  readonly target: string;
  /** The sample's name, with `_bucket`, `_sum` or `_count`. */
  readonly name: string;
  readonly family: string;
  readonly type: string;
  /** JSON object without `le`. */
  readonly labels: string;
  readonly le: string | null;
  /** Nanoseconds since 1970. */
  readonly time_ns: bigint;
  readonly value: number | null;
}

const COLUMNS = ['target', 'name', 'family', 'type', 'labels', 'le', 'time_ns', 'value'] as const;
const ROWS_PER_GROUP = 100_000;

const text = (name: string, repetition_type: 'REQUIRED' | 'OPTIONAL'): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
  repetition_type,
});

const SCHEMA: SchemaElement[] = [
  { name: 'sample', num_children: COLUMNS.length },
  text('target', 'REQUIRED'),
  text('name', 'REQUIRED'),
  text('family', 'REQUIRED'),
  text('type', 'REQUIRED'),
  text('labels', 'REQUIRED'),
  text('le', 'OPTIONAL'),
  { name: 'time_ns', type: 'INT64', repetition_type: 'REQUIRED' },
  { name: 'value', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
];

/** Writes servers.parquet and waits until it is on the disk. Throws file system errors. */
export async function writeServersParquet(path: string, collection: Collection): Promise<void> {
  const parquet = new ParquetWriter({
    writer: fileWriter(path),
    schema: SCHEMA,
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: 'llmbench',
  });
  let rows: SampleRow[] = [];
  const write = async (): Promise<void> => {
    const group = rows;
    rows = [];
    await parquet.write({
      columnData: COLUMNS.map((name) => ({ name, data: group.map((row) => row[name]) })),
      rowGroupSize: group.length,
    });
    // Encoding blocks the thread for a while: pending work (a scrape of /metrics) runs first.
    await new Promise((resume) => setImmediate(resume));
  };
  for (const row of sampleRows(collection)) {
    rows.push(row);
    if (rows.length >= ROWS_PER_GROUP) await write();
  }
  if (rows.length > 0) await write();
  await parquet.finish();
  await syncPath(path);
}

/** By target, then by series, then by time. */
export function* sampleRows(collection: Collection): Generator<SampleRow> {
  for (const target of collection.targets) {
    yield* scrapeRows(collection, target);
    for (const series of target.store.series) yield* seriesRows(collection, target, series);
  }
}

function* scrapeRows(collection: Collection, { name: target, store }: CollectedTarget): Generator<SampleRow> {
  const common = { target, type: 'gauge', labels: '{}', le: null };
  for (let scrape = 0; scrape < store.scrapes; scrape++) {
    const time_ns = wall_ns(collection, store.at_ns(scrape));
    const duration = store.duration_ns(scrape) / 1e9;
    yield { ...common, name: 'up', family: 'up', time_ns, value: store.isOk(scrape) ? 1 : 0 };
    yield { ...common, name: 'scrape_duration_seconds', family: 'scrape_duration_seconds', time_ns, value: duration };
  }
}

function* seriesRows(collection: Collection, target: CollectedTarget, series: Series): Generator<SampleRow> {
  const { store, name } = target;
  const { family } = series;
  const common = { target: name, family: family.name, type: family.type, labels: JSON.stringify(series.labels) };
  for (const part of partsOf(series)) {
    let last: number | null | undefined;
    const row = (scrape: number, value: number | null): SampleRow => ({
      ...common,
      name: part.name,
      le: part.le,
      time_ns: wall_ns(collection, store.at_ns(scrape)),
      value,
    });
    for (let change = 0; change < series.changes; change++) {
      const value = series.isAbsent(change) ? null : part.valueAt(change);
      if (value !== last) yield row(series.scrapeOf(change), value);
      last = value;
    }
    const end = store.lastOkAt(Infinity);
    if (last !== undefined && end > series.scrapeOf(series.changes - 1)) yield row(end, last);
  }
}

interface Part {
  readonly name: string;
  readonly le: string | null;
  readonly valueAt: (change: number) => number | null;
}

function partsOf(series: Series): Part[] {
  const { name } = series.family;
  if (!(series instanceof HistogramSeries)) {
    return [{ name, le: null, valueAt: (change) => (series as ScalarSeries).value(change) }];
  }
  const buckets = series.boundTexts.map((le, bucket) => ({
    name: `${name}_bucket`,
    le,
    valueAt: (change: number) => series.count(change, bucket),
  }));
  const known = (value: number): number | null => (Number.isNaN(value) ? null : value);
  return [
    ...buckets,
    { name: `${name}_sum`, le: null, valueAt: (change) => known(series.sum(change)) },
    { name: `${name}_count`, le: null, valueAt: (change) => series.total(change) },
  ];
}
