import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { codeOf } from '../../store/store-errors.ts';

/** A series of servers.parquet: its changes. */
export interface SampledSeries {
  readonly target: string;
  /** With `_sum` or `_count`. */
  readonly name: string;
  readonly family: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Seconds since the zero. */
  readonly seconds: number[];
  /** From this moment on; null: the page had none. */
  readonly values: (number | null)[];
}

export interface ServerSamples {
  /** The moments at which each target's page was read. */
  readonly scrapes: ReadonlyMap<string, readonly number[]>;
  readonly series: readonly SampledSeries[];
}

const COLUMNS = ['target', 'name', 'family', 'type', 'labels', 'le', 'time_ns', 'value'];

interface Row {
  readonly target: string;
  readonly name: string;
  readonly family: string;
  readonly type: string;
  readonly labels: string;
  readonly le: string | null | undefined;
  readonly time_ns: bigint;
  readonly value: number | null | undefined;
}

/**
 * The samples of these families of a run folder, buckets left out. `start` is the wall time of the run's zero; without
 * one the first sample is the zero. Null when nothing was collected; throws when the file is damaged.
 */
export async function readServerSamples(
  folder: string,
  start: string | null,
  wanted: (family: string) => boolean,
): Promise<ServerSamples | null> {
  const file = await asyncBufferFromFile(join(folder, 'servers.parquet')).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  const metadata = await parquetMetadataAsync(file);
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
  const reader = new SampleReader(start === null ? null : BigInt(Date.parse(start)) * 1_000_000n, wanted);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ file, metadata, compressors, columns: COLUMNS, rowStart, rowEnd });
    for (const row of rows) reader.add(row as unknown as Row);
    rowStart = rowEnd;
  }
  return reader.samples();
}

class SampleReader {
  readonly #wanted: (family: string) => boolean;
  readonly #scrapes = new Map<string, number[]>();
  readonly #series = new Map<string, SampledSeries>();
  #zero_ns: bigint | null;

  constructor(zero_ns: bigint | null, wanted: (family: string) => boolean) {
    this.#zero_ns = zero_ns;
    this.#wanted = wanted;
  }

  add({ target, name, family, type, labels, le, time_ns, value }: Row): void {
    this.#zero_ns ??= time_ns;
    const at = Number(time_ns - this.#zero_ns) / 1e9;
    if (name === 'up' && value === 1) this.#scrapesOf(target).push(at);
    if (le != null || !(this.#wanted(family) || this.#wanted(name))) return;
    const series = this.#seriesOf({ target, name, family, type }, labels);
    series.seconds.push(at);
    series.values.push(value ?? null);
  }

  samples(): ServerSamples {
    return { scrapes: this.#scrapes, series: [...this.#series.values()] };
  }

  #scrapesOf(target: string): number[] {
    const scrapes = this.#scrapes.get(target) ?? [];
    this.#scrapes.set(target, scrapes);
    return scrapes;
  }

  #seriesOf(facts: Pick<SampledSeries, 'target' | 'name' | 'family' | 'type'>, labels: string): SampledSeries {
    const key = JSON.stringify([facts.target, facts.name, labels]);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const series = { ...facts, labels: JSON.parse(labels) as Record<string, string>, seconds: [], values: [] };
    this.#series.set(key, series);
    return series;
  }
}
