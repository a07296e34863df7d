import type { ClassicHistogram } from '../histogram/classic-histogram.ts';
import { histogramDelta } from '../histogram/delta.ts';
import { sameGrid } from '../histogram/grid.ts';

/** One scrape of a cumulative histogram; null = it was not there. */
export interface HistogramSample {
  /** Time of the scrape, milliseconds since 1970. */
  readonly timeMs: number;
  readonly histogram: ClassicHistogram | null;
}

/** What was observed between two consecutive samples. */
export interface HistogramDifference {
  fromMs: number;
  toMs: number;
  /** Null = a gap: a sample is missing, or the grid changed. Never zero counts instead. */
  histogram: ClassicHistogram | null;
  /** The series began anew in between; the difference is what was counted since. */
  reset: boolean;
  /** The grid is another one than at the last sample that was there: buckets of two grids are never mixed. */
  gridChanged: boolean;
}

/**
 * Differences between consecutive samples of one series, in the order of time: one less than there are samples.
 *
 * What was observed around a missing sample belongs to no single difference and is left out here; `windowDifferences`
 * keeps it.
 */
export function differences(samples: readonly HistogramSample[]): HistogramDifference[] {
  const result: HistogramDifference[] = [];
  let previous: HistogramSample | null = null;
  let lastKnown: ClassicHistogram | null = null;
  for (const sample of samples) {
    const { histogram } = sample;
    if (previous !== null) result.push(difference(previous, sample, lastKnown));
    if (histogram !== null) lastKnown = histogram;
    previous = sample;
  }
  return result;
}

function difference(
  start: HistogramSample,
  end: HistogramSample,
  lastKnown: ClassicHistogram | null,
): HistogramDifference {
  const { histogram } = end;
  const delta = start.histogram !== null && histogram !== null ? histogramDelta(start.histogram, histogram) : null;
  return {
    fromMs: start.timeMs,
    toMs: end.timeMs,
    histogram: delta?.histogram ?? null,
    reset: delta?.reset ?? false,
    gridChanged: histogram !== null && lastKnown !== null && !sameGrid(lastKnown.bounds, histogram.bounds),
  };
}
