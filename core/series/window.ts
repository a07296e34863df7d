import { addHistograms } from '../histogram/add.ts';
import type { ClassicHistogram } from '../histogram/classic-histogram.ts';
import { differences } from './histogram-differences.ts';
import type { HistogramSample } from './histogram-differences.ts';

/** All that was observed over a stretch of samples with one grid. */
export interface WindowDifference {
  /** Time of the first sample of the stretch, milliseconds since 1970. */
  fromMs: number;
  /** Time of its last sample. */
  toMs: number;
  histogram: ClassicHistogram;
  /** How often the series began anew. After a reset the sum no longer narrows bounds. */
  resets: number;
}

/**
 * What was observed over a whole range of samples of one series, in the order of time: the sum of the differences, so
 * that resets are seen.
 *
 * Missing samples are skipped: the counts around them still tell what was added. The range is cut where the grid
 * changes, so that buckets of two grids are never mixed: one element per stretch with one grid, normally one. A
 * stretch with a single sample gives none. `bornAtZero`: the series was missing from a successful scrape of the same
 * target before the first sample, so the counts of that sample belong to the range.
 */
export function windowDifferences(
  samples: readonly HistogramSample[],
  options: { bornAtZero?: boolean } = {},
): WindowDifference[] {
  const known = samples.filter((sample) => sample.histogram !== null);
  const steps = differences(known);
  const result: WindowDifference[] = [];
  let parts: ClassicHistogram[] = [];
  let resets = 0;
  let fromMs = known[0]?.timeMs ?? NaN;
  let toMs = fromMs;
  const first = known[0]?.histogram;
  if (options.bornAtZero === true && first) parts.push(first);

  const close = (): void => {
    const histogram = addHistograms(parts);
    if (histogram !== null) result.push({ fromMs, toMs, histogram, resets });
    parts = [];
    resets = 0;
  };
  for (const step of steps) {
    if (step.histogram === null) {
      close();
      fromMs = step.toMs;
    } else {
      parts.push(step.histogram);
      if (step.reset) resets++;
    }
    toMs = step.toMs;
  }
  close();
  return result;
}
