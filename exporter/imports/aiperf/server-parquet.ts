import { zstdDecompressSync } from 'node:zlib';
import { reasonOf } from '../../errors/expected-error.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { ImportRefusal, type ImportNotes } from '../import-notes.ts';
import { Fields, isObject } from '../reading/fields.ts';
import { readJsonLines } from '../reading/read-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import type { ReadTarget } from '../servers-of-stores.ts';
import { wallNanoseconds } from './records.ts';
import { KeptScrapes, ScrapePages, type MetricFacts } from './scrape-page.ts';

/** What one target may take of the memory: an import holds it until its run is written. */
const LIMITS = { maxSeries: 20_000, maxValues: 4_000_000 };

/**
 * The targets of `server_metrics_export.jsonl`, scrape by scrape as AIPerf read them (pages that were as the one before are
 * not in the file). Times are ns since `zero_ns`.
 */
export async function readServerLines(
  file: SourceFile,
  facts: ReadonlyMap<string, MetricFacts>,
  zero_ns: bigint,
  notes: ImportNotes,
  reading: Reading,
): Promise<Map<string, ReadTarget>> {
  const targets = new Map<string, KeptScrapes>();
  const pages = new ScrapePages(facts);
  for await (const { number, text, value } of readJsonLines(file, notes, reading)) {
    const name = targetName(value['endpoint_url']);
    const at_ns = wallNanoseconds(text, 'timestamp_ns', zero_ns);
    const { metrics } = value;
    if (name === null || at_ns === null || !isObject(metrics)) {
      notes.count('scrapes of servers left out: no target, time or metrics', `line ${number}`);
      continue;
    }
    const target = targets.get(name) ?? new KeptScrapes(pages, LIMITS);
    targets.set(name, target);
    const sent_ns = wallNanoseconds(text, 'request_sent_ns', zero_ns) ?? at_ns;
    const duration_ns = new Fields(value, notes, `line ${number}: `).amount('endpoint_latency_ns') ?? 0;
    if (!target.record(at_ns, metrics, { sent_ns, duration_ns })) {
      notes.add(`${name}: several servers responded at this address; scrapes after the change are left out`);
    }
  }
  return new Map(Array.from(targets, ([name, target]) => [name, target.finish()]));
}

/** The target's address without user info and query; older files have host and port only. */
export function targetName(url: unknown): string | null {
  if (typeof url !== 'string' || url === '') return null;
  try {
    return publicUrl(url.includes('://') ? url : `http://${url}/metrics`);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

const NO_LABELS: ReadonlySet<string> = new Set([
  'endpoint_url',
  'metric_name',
  'metric_type',
  'unit',
  'description',
  'timestamp_ns',
  'value',
  'sum',
  'count',
  'bucket_le',
  'bucket_count',
]);

/** Rows that are held at once: a larger file is refused. */
const MAX_ROWS = 5_000_000;

interface ParquetSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value?: number;
  readonly buckets?: Record<string, number>;
  readonly sum?: number;
  readonly count?: number;
}

type SamplesByMetric = Record<string, ParquetSample[]>;

/**
 * The targets of `server_metrics_export.parquet`. Its counters and histograms are what they gained since AIPerf's
 * reference before the run, so they are 0 at the start of its window. What AIPerf lost of series that first appeared
 * in the run is lost here too. Throws `ImportRefusal`.
 */
export async function readServerParquet(
  file: SourceFile,
  facts: ReadonlyMap<string, MetricFacts>,
  zero_ns: bigint,
  notes: ImportNotes,
): Promise<Map<string, ReadTarget>> {
  const { rows, from_ns } = await readRows(file);
  notes.add("the servers' figures are from Parquet: AIPerf drops what series counted before their first sample");
  const byTarget = new Map<string, Map<bigint, SamplesByMetric>>();
  const types = new Map(facts);
  for (const row of rows) {
    const target = targetName(row['endpoint_url']);
    const { metric_name: metric, metric_type: type, timestamp_ns: at } = row;
    if (target === null || typeof metric !== 'string' || typeof at !== 'bigint') continue;
    if (!types.has(metric)) {
      const { description } = row;
      types.set(metric, {
        type: typeof type === 'string' ? type : null,
        description: typeof description === 'string' ? description : null,
      });
    }
    const scrapes = byTarget.get(target) ?? new Map<bigint, SamplesByMetric>();
    byTarget.set(target, scrapes);
    addRow(at, metric, row, scrapes);
  }
  return new Map(Array.from(byTarget, ([name, scrapes]) => [name, storeOf(scrapes, types, from_ns, zero_ns)] as const));
}

async function readRows(
  file: SourceFile,
): Promise<{ readonly rows: readonly Record<string, unknown>[]; readonly from_ns: bigint | null }> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  try {
    const buffer = await asyncBufferFromFile(file.path);
    const metadata = await parquetMetadataAsync(buffer);
    const known = new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value]));
    if (!known.has('aiperf.schema_version'))
      throw new ImportRefusal(`${file.name} is not AIPerf's: it has no aiperf.schema_version`);
    if (metadata.num_rows > MAX_ROWS) {
      throw new ImportRefusal(`${file.name} has ${metadata.num_rows} rows, more than ${MAX_ROWS}: import it without`);
    }
    const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
    const rows = await parquetReadObjects({ file: buffer, metadata, compressors });
    const from = known.get('aiperf.time_filter_start_ns') ?? '';
    return { rows, from_ns: /^\d+$/.test(from) ? BigInt(from) : null };
  } catch (error) {
    if (error instanceof ImportRefusal) throw error;
    throw new ImportRefusal(`${file.name} cannot be read as Parquet: ${reasonOf(error)}`);
  }
}

function addRow(
  at: bigint,
  metric: string,
  row: Readonly<Record<string, unknown>>,
  scrapes: Map<bigint, SamplesByMetric>,
): void {
  const metrics = scrapes.get(at) ?? (Object.create(null) as SamplesByMetric);
  scrapes.set(at, metrics);
  const samples = (metrics[metric] ??= []);
  const { value, sum, count, bucket_le: le, bucket_count: n } = row;
  const labels = Object.fromEntries(
    Object.entries(row).flatMap(([name, text]) =>
      NO_LABELS.has(name) || typeof text !== 'string' ? [] : [[name, text]],
    ),
  );
  if (typeof value === 'number') samples.push({ labels, value });
  if (typeof le !== 'string' || typeof n !== 'number') return;
  const key = JSON.stringify(labels);
  const last = samples.at(-1);
  // The buckets of one histogram follow each other.
  if (last?.buckets !== undefined && JSON.stringify(last.labels) === key && !Object.hasOwn(last.buckets, le))
    last.buckets[le] = n;
  else {
    samples.push({
      labels,
      buckets: { [le]: n },
      ...(typeof sum === 'number' ? { sum } : {}),
      ...(typeof count === 'number' ? { count } : {}),
    });
  }
}

function storeOf(
  scrapes: ReadonlyMap<bigint, SamplesByMetric>,
  types: ReadonlyMap<string, MetricFacts>,
  from_ns: bigint | null,
  zero_ns: bigint,
): ReadTarget {
  const target = new KeptScrapes(new ScrapePages(types));
  const record = (at: bigint, metrics: SamplesByMetric): boolean => target.record(Number(at - zero_ns), metrics);
  const ordered = [...scrapes].sort(([a], [b]) => (a < b ? -1 : 1));
  const first = ordered[0]?.[0];
  if (first !== undefined) {
    const start = from_ns !== null && from_ns < first ? from_ns : first - 1n;
    // Before the run's first request too, so that it is the scrape that the window begins with.
    record(start < zero_ns ? start : zero_ns, standingAtZero(ordered, types));
  }
  for (const [at, metrics] of ordered) record(at, metrics);
  return target.finish();
}

/** Every cumulative series with 0, its value at the reference. */
function standingAtZero(
  ordered: readonly (readonly [bigint, SamplesByMetric])[],
  types: ReadonlyMap<string, MetricFacts>,
): SamplesByMetric {
  const zero = Object.create(null) as SamplesByMetric;
  const seen = new Set<string>();
  for (const [, metrics] of ordered) {
    for (const [metric, samples] of Object.entries(metrics)) {
      const type = types.get(metric)?.type;
      if (type !== 'counter' && type !== 'histogram') continue;
      for (const { labels, value, buckets, sum, count } of samples) {
        const key = `${metric} ${JSON.stringify(labels)}`;
        if (seen.has(key)) continue;
        seen.add(key);
        (zero[metric] ??= []).push({
          labels,
          ...(value === undefined ? {} : { value: 0 }),
          ...(buckets === undefined ? {} : { buckets: Object.fromEntries(Object.keys(buckets).map((le) => [le, 0])) }),
          ...(sum === undefined ? {} : { sum: 0 }),
          ...(count === undefined ? {} : { count: 0 }),
        });
      }
    }
  }
  return zero;
}
