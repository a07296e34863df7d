import { median } from '../core/stats/percentiles.ts';

/** Something that was measured of a process. */
export interface Timed {
  readonly seconds: number;
}

/** Left out at the beginning: connections open and code is compiled. */
const WARM_SHARE = 0.2;
const MAX_WARM_SECONDS = 30;

/** The first and the last third of the readings after the warm-up. Throws when there are too few of them. */
export function outerThirds<R extends Timed>(all: readonly R[]): { readonly first: R[]; readonly last: R[] } {
  const readings = afterWarmup(all);
  const third = Math.floor(readings.length / 3);
  if (third === 0) throw new Error(`only ${all.length} readings: watch for longer (--minutes)`);
  return { first: readings.slice(0, third), last: readings.slice(-third) };
}

/** The readings after the warm-up. */
export function afterWarmup<R extends Timed>(all: readonly R[]): R[] {
  const warm = Math.min(WARM_SHARE * (all.at(-1)?.seconds ?? 0), MAX_WARM_SECONDS);
  return all.filter(({ seconds }) => seconds > warm);
}

/** Ten parts of equal numbers of readings, in order. */
export function tenths<R>(readings: readonly R[]): R[][] {
  const edge = (i: number): number => Math.floor((i * readings.length) / 10);
  return Array.from({ length: 10 }, (_, i) => readings.slice(edge(i), edge(i + 1)));
}

export const medianOf = <R>(readings: readonly R[], read: (reading: R) => number): number => median(readings.map(read));

/** What a watched process reports of itself. */
export interface Reading {
  /** Since its start. */
  readonly seconds: number;
  readonly rss_mb: number;
  /** The JavaScript heap and what it holds outside, garbage included. */
  readonly held_mb: number;
  readonly openFiles: number;
  /** Of the time since the reading before. */
  readonly delay_p99_ms: number;
  readonly delay_max_ms: number;
}
