import { fractionBelow } from '../histogram/fraction.ts';
import type { ChunkReading } from './chunk-reading.ts';
import type { GapHistogram } from './gap-histogram.ts';

/** A gap is a stall when it is longer than so many median gaps of the run. */
const STALL_FACTOR = 5;

/**
 * The share of the gaps between chunks in which a stream stood still: those longer than five times the median gap. Exact
 * from the chunks, else from the histogram (whose buckets are less than 0.8 % wide). Null without gaps, and when the
 * median is 0: then chunks share time stamps, and stalls are unknown.
 */
export function stallRatio(medianGapSeconds: number | null, chunks: ChunkReading | null, gaps: GapHistogram) {
  if (medianGapSeconds === null || medianGapSeconds <= 0) return null;
  const limit = STALL_FACTOR * medianGapSeconds;
  const longer = chunks?.gapsLongerThan(limit) ?? null;
  if (longer !== null) return longer / gaps.n;
  const below = fractionBelow(limit, gaps.toClassic());
  return below === null ? null : 1 - below.estimate;
}
