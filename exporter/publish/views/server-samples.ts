import type { SampleRow } from '../../servers/files/servers-parquet.ts';
import { readServersParquet } from '../../store/servers/read-servers-parquet.ts';

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

/**
 * The samples of these families of a run folder, buckets left out. `start` is the wall time of the run's zero; without
 * one the first sample is the zero. Null when nothing was collected; throws when the file is damaged.
 */
export async function readServerSamples(
  folder: string,
  start: string | null,
  wanted: (family: string) => boolean,
): Promise<ServerSamples | null> {
  const groups = await readServersParquet(folder);
  if (groups === null) return null;
  const reader = new SampledSeriesReader(start === null ? null : BigInt(Date.parse(start)) * 1_000_000n, wanted);
  for await (const rows of groups) for (const row of rows) reader.add(row);
  return reader.samples();
}

class SampledSeriesReader {
  readonly #wanted: (family: string) => boolean;
  readonly #scrapes = new Map<string, number[]>();
  readonly #series = new Map<string, SampledSeries>();
  #zero_ns: bigint | null;

  constructor(zero_ns: bigint | null, wanted: (family: string) => boolean) {
    this.#zero_ns = zero_ns;
    this.#wanted = wanted;
  }

  add({ target, name, family, type, labels, le, time_ns, value }: SampleRow): void {
    this.#zero_ns ??= time_ns;
    const at = Number(time_ns - this.#zero_ns) / 1e9;
    if (name === 'up' && value === 1) this.#scrapesOf(target).push(at);
    if (le !== null || !(this.#wanted(family) || this.#wanted(name))) return;
    const series = this.#seriesOf({ target, name, family, type }, labels);
    series.seconds.push(at);
    series.values.push(value);
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
