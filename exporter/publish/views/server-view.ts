import { quantities } from '../../../catalog/equivalents.ts';
import type { FamilyQuery, QuantityName, SeriesView } from '../../../core/api/run-data.ts';
import type { SampleRow } from '../../servers/files/servers-parquet.ts';
import { readServersParquet } from '../../store/read-servers.ts';

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

export const QUANTITY_NAMES = (): QuantityName[] => quantities().map(({ quantity }) => quantity as QuantityName);

/** The quantity by which a series is requested; null: it is not. */
export function familySelector({
  family,
  quantity,
  target,
}: FamilyQuery): (series: {
  readonly target: string;
  readonly family: string;
  readonly labels: Readonly<Record<string, string>>;
}) => { readonly quantity: QuantityName | null } | null {
  const members = quantities().flatMap((each) => {
    const wanted = quantity.find((name) => name === each.quantity);
    return wanted === undefined ? [] : each.families.map((member) => ({ ...member, quantity: wanted }));
  });
  return (series) => {
    if (target.length > 0 && !target.includes(series.target)) return null;
    if (family.includes(series.family)) return { quantity: null };
    const member = members.find(
      (each) =>
        each.family === series.family &&
        Object.entries(each.labels ?? {}).every(([name, value]) => series.labels[name] === value),
    );
    return member === undefined ? null : { quantity: member.quantity };
  };
}

/** The names that must be read to answer the query. */
export function wantedFamilies({ family, quantity }: FamilyQuery): (name: string) => boolean {
  const byQuantity = quantities()
    .filter((each) => quantity.some((name) => name === each.quantity))
    .flatMap(({ families }) => families.map((member) => member.family));
  const names = new Set([...family, ...byQuantity]);
  return (name) => names.has(name);
}

/** The series that are requested, each on the scrapes of its target, at most `points` of them. */
export function seriesViews({ scrapes, series }: ServerSamples, query: FamilyQuery, points: number): SeriesView[] {
  const select = familySelector(query);
  const views: SeriesView[] = [];
  for (const each of series) {
    const axis = thinned(scrapes.get(each.target) ?? each.seconds, points);
    const byName = select({ ...each, family: each.name });
    if (byName !== null) views.push(plainView(each, byName.quantity, axis));
    const byHistogram = each.name === `${each.family}_sum` && each.type === 'histogram' ? select(each) : null;
    const count = byHistogram === null ? undefined : series.find((other) => isCountOf(other, each));
    if (byHistogram !== null && count !== undefined) views.push(meanView(each, count, byHistogram.quantity, axis));
  }
  return views;
}

/** Moments at which points stand. */
interface Axis {
  readonly moments: readonly number[];
  readonly every: number;
}

/** Every so-manieth moment, the last among them. */
function thinned(moments: readonly number[], points: number): Axis {
  const every = Math.max(1, Math.ceil(moments.length / points));
  return { every, moments: moments.filter((_, i) => (moments.length - 1 - i) % every === 0) };
}

function plainView(series: SampledSeries, quantity: QuantityName | null, axis: Axis): SeriesView {
  const gains = isCumulative(series);
  return {
    target: series.target,
    family: series.name,
    quantity,
    labels: series.labels,
    as: gains ? 'per_second' : 'value',
    scrapes_per_point: axis.every,
    seconds: axis.moments,
    values: gains ? perSecond(series, axis) : levels(series, axis),
  };
}

function meanView(sum: SampledSeries, count: SampledSeries, quantity: QuantityName | null, axis: Axis): SeriesView {
  const sums = gains(sum, axis.moments);
  const counts = gains(count, axis.moments);
  return {
    target: sum.target,
    family: sum.family,
    quantity,
    labels: sum.labels,
    as: 'mean',
    scrapes_per_point: axis.every,
    seconds: axis.moments,
    values: sums.map((gain, i) => {
      const observations = counts[i] ?? null;
      return gain === null || observations === null || observations <= 0 ? null : gain / observations;
    }),
  };
}

function isCountOf(other: SampledSeries, { target, family, labels }: SampledSeries): boolean {
  return (
    other.name === `${family}_count` &&
    other.target === target &&
    JSON.stringify(other.labels) === JSON.stringify(labels)
  );
}

function isCumulative({ type, name, family }: SampledSeries): boolean {
  return type === 'counter' || (name !== family && /_(sum|count)$/.test(name));
}

function perSecond(series: SampledSeries, { moments }: Axis): (number | null)[] {
  return gains(series, moments).map((gain, i) => {
    const seconds = (moments[i] ?? NaN) - (moments[i - 1] ?? NaN);
    return gain === null || !(seconds > 0) ? null : gain / seconds;
  });
}

/** What a counter gained since the moment before, counted from 0 after a fall; null where it had no value. */
function gains({ seconds, values }: SampledSeries, moments: readonly number[]): (number | null)[] {
  let at = -1;
  let value: number | null = null;
  return moments.map((moment, i) => {
    let gain: number | null = value === null || i === 0 ? null : 0;
    while (at + 1 < seconds.length && (seconds[at + 1] ?? NaN) <= moment) {
      at += 1;
      const next: number | null = values[at] ?? null;
      if (value === null || next === null) gain = null;
      else if (gain !== null) gain += next >= value ? next - value : next;
      value = next;
    }
    return gain;
  });
}

/** The value at each moment; with several scrapes to a point, its mean over the time since the point before. */
function levels(series: SampledSeries, { moments, every }: Axis): (number | null)[] {
  const at = moments.map((moment) => valueAt(series, moment));
  if (every === 1) return at;
  return moments.map((moment, i) => {
    const before = moments[i - 1];
    return before === undefined ? (at[i] ?? null) : meanBetween(series, before, moment);
  });
}

function valueAt({ seconds, values }: SampledSeries, moment: number): number | null {
  return values[lastAt(seconds, moment)] ?? null;
}

/** Over the part of the time in which there was a value. */
function meanBetween({ seconds, values }: SampledSeries, from: number, to: number): number | null {
  let area = 0;
  let time = 0;
  for (let i = Math.max(0, lastAt(seconds, from)); i < seconds.length && (seconds[i] ?? NaN) < to; i++) {
    const value = values[i] ?? null;
    const held = Math.min(seconds[i + 1] ?? to, to) - Math.max(seconds[i] ?? NaN, from);
    if (value === null || held <= 0) continue;
    area += value * held;
    time += held;
  }
  return time > 0 ? area / time : null;
}

/** The index of the last moment that is not after; −1: none. */
function lastAt(seconds: readonly number[], moment: number): number {
  let low = 0;
  let high = seconds.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((seconds[middle] ?? NaN) <= moment) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
