import { histogramDistribution } from '../../../core/measures/distribution-result.ts';
import { FloatColumn } from '../../../core/stats/float-column.ts';
import { GapHistogram } from '../../../core/measures/gap-histogram.ts';
import type { DistributionResult } from '../../../core/run/result.ts';
import { checkHistogram, checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import type { ImportNotes } from '../import-notes.ts';
import { exactStated, statedFacts } from '../stated/stated-measures.ts';
import type { ReportedStatistics, StatedIdentity } from '../stated/stated-measures.ts';

/** Above this many gaps (16 MB, and as much again to sort them) they are counted in a fine histogram. */
const MAX_EXACT = 2_000_000;
const NS_PER_SECOND = 1e9;

/** The gaps between chunks of many requests, seconds: exact up to two million, above from a histogram with bounds. */
export class GapValues {
  #exact: FloatColumn | null = new FloatColumn();
  readonly #histogram = new GapHistogram();
  readonly #mostExact: number;

  constructor(mostExact: number = MAX_EXACT) {
    this.#mostExact = mostExact;
  }

  append(gap_s: number): void {
    this.#histogram.observe(Math.round(gap_s * NS_PER_SECOND));
    if (this.#exact === null) return;
    if (this.#exact.length < this.#mostExact) this.#exact.append(gap_s);
    else this.#exact = null;
  }

  /** Their statistics; null without any. */
  stated(identity: StatedIdentity): DistributionResult | null {
    if (this.#exact !== null) return exactStated(identity, this.#exact.toArray());
    return histogramDistribution(statedFacts(identity), this.#histogram);
  }

  /** Notes where what a file reports of them is not what they give. */
  check(what: string, reported: ReportedStatistics, notes: ImportNotes): void {
    if (this.#exact !== null) checkStatistics(what, reported, this.#exact.toArray(), NUMPY_LINEAR, notes);
    else checkHistogram(what, reported, this.#histogram, notes);
  }
}
