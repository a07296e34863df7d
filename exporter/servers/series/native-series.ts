import type { Labels } from '../../../core/exposition/index.ts';
import { formatNumber } from '../../../core/exposition/index.ts';
import { type ClassicHistogram, onJointGrid } from '../../../core/histogram/classic-histogram.ts';
import { classicOfNative, onCommonGrid, type NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import { HistogramSeries, type FamilyFacts, type SeriesBirth } from './series.ts';

const NO_GRID = { bounds: [], texts: [] };

interface Views {
  /** Number of changes when these were computed. */
  readonly changes: number;
  /** By change. */
  readonly views: ReadonlyMap<number, ClassicHistogram>;
  readonly bounds: readonly number[];
  readonly texts: readonly string[];
}

/**
 * A series of a native histogram. Its buckets appear and disappear, and become coarser when there are too many. As a
 * histogram it has one grid for all samples: the coarsest schema with the widest zero bucket, or the bounds of custom buckets.
 */
export class NativeHistogramSeries extends HistogramSeries {
  /** One per change; null where it was absent. */
  readonly #histograms: (NativeHistogram | null)[] = [];
  #last: NativeHistogram | null = null;
  /** Whether the last change is an absence. */
  #isAbsent = false;
  #seen: Views = { changes: 0, views: new Map(), bounds: [], texts: [] };

  constructor(family: FamilyFacts, labels: Labels, birth: SeriesBirth) {
    super(family, labels, birth, NO_GRID);
  }

  override get bounds(): readonly number[] {
    return this.#onOneGrid().bounds;
  }

  override get boundTexts(): readonly string[] {
    return this.#onOneGrid().texts;
  }

  override count(change: number, bucket: number): number {
    return this.#view(change)?.counts[bucket] ?? NaN;
  }

  override sum(change: number): number {
    return this.#histograms[change]?.sum ?? NaN;
  }

  override total(change: number): number {
    return this.#histograms[change]?.count ?? NaN;
  }

  /** Whether all of its buckets are those of an exponential schema. */
  get isExponential(): boolean {
    return this.#histograms.every((histogram) => histogram === null || histogram.customBounds === null);
  }

  /** How many numbers the last change stores. */
  get lastSize(): number {
    return this.#last === null ? 0 : sizeOf(this.#last);
  }

  /** As `record` of a classic histogram. */
  recordNative(scrape: number, histogram: NativeHistogram, keep: boolean): number {
    const last = this.#last;
    const { count, sum } = histogram;
    if (!hasNumbers(histogram)) {
      this.noValues += 1;
      this.recordAbsence(scrape, false);
      return 0;
    }
    if (last !== null && !this.#isAbsent && count === last.count && Object.is(sum, last.sum)) return 0;
    if (keep) {
      this.changedAt.push(scrape);
      this.#histograms.push(histogram);
      this.#last = histogram;
      this.#isAbsent = false;
    }
    if (last === null) return 0;
    return count < last.count || anyBucketFell(last, histogram) ? -1 : 1;
  }

  protected override pushNothing(): void {
    this.#histograms.push(null);
    this.#isAbsent = true;
  }

  protected override forgetValue(): void {
    this.#last = null;
  }

  #view(change: number): ClassicHistogram | undefined {
    return this.#onOneGrid().views.get(change);
  }

  /** All changes so far as histograms of one grid. */
  #onOneGrid(): Views {
    if (this.#seen.changes !== this.changes) {
      const present = this.#histograms.flatMap((histogram, change) =>
        histogram === null ? [] : [{ histogram, change }],
      );
      const views = onOneGrid(present.map(({ histogram }) => histogram));
      this.#seen = {
        changes: this.changes,
        views: new Map(views.map((view, i) => [present[i]?.change ?? -1, view])),
        bounds: views[0]?.bounds ?? [],
        texts: (views[0]?.bounds ?? []).map(formatNumber),
      };
    }
    return this.#seen;
  }
}

function hasNumbers({ count, zeroCount, positive, negative }: NativeHistogram): boolean {
  const isFinite = (bucket: { readonly count: number }): boolean => Number.isFinite(bucket.count);
  return Number.isFinite(count) && Number.isFinite(zeroCount) && positive.every(isFinite) && negative.every(isFinite);
}

function anyBucketFell(before: NativeHistogram, after: NativeHistogram): boolean {
  const [a, b] = onOneGrid([before, after]);
  return a !== undefined && b !== undefined && a.counts.some((count, i) => (b.counts[i] ?? NaN) < count);
}

/** Also of histograms with custom buckets that differ, of which a Prometheus states the bounds of those with observations only. */
function onOneGrid(histograms: readonly NativeHistogram[]): readonly ClassicHistogram[] {
  return onCommonGrid(histograms) ?? onJointGrid(histograms.map(classicOfNative));
}

function sizeOf(histogram: NativeHistogram): number {
  return 4 + 4 * (histogram.positive.length + histogram.negative.length);
}
