import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { migrated } from '../store/migrations/migrate.ts';
import type { JsonObject } from '../store/migrations/migrate.ts';
import { codeOf } from '../store/store-errors.ts';
import { signalNames } from './server-signals.ts';
import type { ServerSample } from './server-signals.ts';

/** A histogram of servers.json with the percentiles that the report shows; see `SeriesStatistics` there. */
export interface ServerSeries {
  readonly target: string;
  readonly family: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly per: string | null;
  readonly repeats: string | null;
  readonly statistics: {
    readonly kind: string;
    readonly count?: number | null;
    readonly mean?: number | null;
    readonly percentiles?: Readonly<
      Record<
        string,
        { readonly estimate: number | null; readonly bounds: readonly [number | null, number | null] | null }
      >
    > | null;
  } | null;
}

/** What a run directory has of its servers. */
export interface ServerFiles {
  readonly intervalSeconds: number;
  readonly series: readonly ServerSeries[];
  readonly samples: readonly ServerSample[];
}

/** Null when nothing was collected. `start` is the wall time of the run's zero. Throws when a file is damaged. */
export async function readServers(folder: string, start: string | null): Promise<ServerFiles | null> {
  const path = join(folder, 'servers.json');
  const text = await textOf(path);
  if (text === null || start === null) return null;
  const file = migrated('servers', path, JSON.parse(text) as JsonObject) as unknown as {
    readonly interval_seconds: number;
    readonly series: readonly ServerSeries[];
  };
  const repeated = new Set(file.series.filter(({ repeats }) => repeats !== null).map(keyOf));
  const samples = await readSamples(join(folder, 'servers.parquet'), start);
  return {
    intervalSeconds: file.interval_seconds,
    series: file.series,
    samples: samples.filter(({ target, name, labels }) => !repeated.has(JSON.stringify([target, name, labels]))),
  };
}

const keyOf = ({ target, family, labels }: ServerSeries): string =>
  JSON.stringify([target, family, JSON.stringify(labels)]);

async function readSamples(path: string, start: string): Promise<ServerSample[]> {
  const file = await asyncBufferFromFile(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return [];
  const metadata = await parquetMetadataAsync(file);
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
  const columns = ['target', 'name', 'labels', 'time_ns', 'value'];
  const start_ns = BigInt(Date.parse(start)) * 1_000_000n;
  const wanted = signalNames();
  const samples: ServerSample[] = [];
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = (await parquetReadObjects({ file, metadata, compressors, columns, rowStart, rowEnd })) as Row[];
    for (const { target, name, labels, time_ns, value } of rows) {
      if (wanted.has(name)) {
        samples.push({ target, name, labels, at_seconds: Number(time_ns - start_ns) / 1e9, value: value ?? null });
      }
    }
    rowStart = rowEnd;
  }
  return samples;
}

interface Row {
  readonly target: string;
  readonly name: string;
  readonly labels: string;
  readonly time_ns: bigint;
  readonly value: number | null | undefined;
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
