import { perBucket, type ClassicHistogram } from '../../../../core/histogram/classic-histogram.ts';

/** A bucket as it is drawn; an end that is infinite or 0 lies at the edge of the drawing. */
export interface DrawnBucket {
  low: number;
  high: number;
  count: number;
}

/** The part of a grid with observations, on a logarithmic axis. */
export interface PlotScale {
  buckets: DrawnBucket[];
  /** Finite bounds within the drawing. */
  bounds: number[];
  /** Position from 0 to 1; values beyond the drawing lie at its edges. */
  position: (value: number) => number;
}

/** The buckets from the first to the last with observations, and one more on either side. Null: there is no bucket. */
export function plotScale(histogram: ClassicHistogram): PlotScale | null {
  const counts = perBucket(histogram);
  const occupied = counts.flatMap((count, i) => (count > 0 ? [i] : []));
  const [first, last] = [occupied[0], occupied.at(-1)];
  if (first === undefined || last === undefined) {
    return null;
  }
  const buckets = histogram.bounds
    .map((high, i) => ({ low: i === 0 ? 0 : (histogram.bounds[i - 1] ?? 0), high, count: counts[i] ?? 0 }))
    .slice(Math.max(0, first - 1), last + 2);
  const bounds = buckets.flatMap(({ low, high }) => [low, high]).filter((edge) => edge > 0 && Number.isFinite(edge));
  const inside = [...new Set(bounds)].sort((a, b) => a - b);
  const [least = 1, most = 1] = [inside[0], inside.at(-1)];
  // Ends that have no place on a logarithmic axis: the middle of a first bucket is drawn in its middle.
  const step = Math.min(3, inside.length > 1 ? (most / least) ** (1 / (inside.length - 1)) : 2);
  const from = buckets.some(({ low }) => low <= 0) ? least / 4 : least;
  const to = buckets.some(({ high }) => high === Infinity) ? most * step : most;
  const width = Math.log(to / from);
  return {
    buckets,
    bounds: inside,
    position: (value) => (value <= from ? 0 : value >= to ? 1 : Math.log(value / from) / width),
  };
}

/** The bounds whose texts have room, from left to right. `room`: what a text takes, from 0 to 1. */
export function labeledBounds({ bounds, position }: PlotScale, room: number): number[] {
  const shown: number[] = [];
  for (const bound of bounds) {
    const before = shown.at(-1);
    if (before === undefined || position(bound) - position(before) >= room) {
      shown.push(bound);
    }
  }
  return shown;
}
