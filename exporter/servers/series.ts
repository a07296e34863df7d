import type { Labels } from '../../core/exposition/index.ts';
import { growingFloats, growingIntegers } from './growing-array.ts';

/** What a family's values are. A summary's quantiles are gauges in all but name; its sum and count are counters. */
export type SeriesType = 'counter' | 'gauge' | 'histogram' | 'unknown' | 'info' | 'summary';

/** A family as its page describes it. */
export interface FamilyFacts {
  /** The name on its samples, with `_total`; histograms without their suffixes. `sglang_…` is `sglang:…`. */
  readonly name: string;
  readonly type: SeriesType;
  readonly help: string | null;
  /** OpenMetrics' UNIT. */
  readonly unit: string | null;
  /** A quantile, the sum or the count of a summary. */
  readonly ofSummary: boolean;
}

/**
 * The samples of one series: only changes are kept, with the scrape at which each was seen. What is not written down
 * between two changes was the same; an absence is a change too. Nothing is lost by it.
 */
export abstract class Series {
  readonly family: FamilyFacts;
  /** Without `le`. */
  readonly labels: Labels;
  /** The scrape that showed it first. */
  readonly bornAt: number;
  /** Whether a page of the same target was read before, on which it was not. */
  readonly bornOnKnownTarget: boolean;
  /** Values that were NaN or infinite. */
  noValues = 0;
  protected readonly changedAt = growingIntegers();
  protected readonly absences = new Set<number>();

  constructor(family: FamilyFacts, labels: Labels, bornAt: number, bornOnKnownTarget: boolean) {
    this.family = family;
    this.labels = labels;
    this.bornAt = bornAt;
    this.bornOnKnownTarget = bornOnKnownTarget;
  }

  get changes(): number {
    return this.changedAt.length;
  }

  /** The scrape of a change. */
  scrapeOf(change: number): number {
    return this.changedAt.get(change);
  }

  isAbsent(change: number): boolean {
    return this.absences.has(change);
  }

  /** The change that holds at a scrape; −1: not seen yet. */
  changeAt(scrape: number): number {
    let low = 0;
    let high = this.changes;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.changedAt.get(middle) <= scrape) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Whether it was on the page of that scrape, with a value. */
  hasValueAt(scrape: number): boolean {
    const change = this.changeAt(scrape);
    return change >= 0 && !this.isAbsent(change);
  }

  /** The page of this scrape does not have it, or no value for it. */
  recordAbsence(scrape: number): void {
    const last = this.changes - 1;
    if (last >= 0 && this.isAbsent(last)) return;
    this.absences.add(this.changes);
    this.changedAt.push(scrape);
    this.pushNothing();
  }

  protected abstract pushNothing(): void;
}

/** A series of single numbers. */
export class ScalarSeries extends Series {
  readonly #values = growingFloats();
  #last = NaN;

  get isCounter(): boolean {
    return this.family.type === 'counter';
  }

  /** NaN where it was absent. */
  value(change: number): number {
    return this.#values.get(change);
  }

  /** Below 0: it fell; above: it rose; 0: nothing to compare, or the same. `keep` false only compares. */
  record(scrape: number, value: number, keep: boolean): number {
    if (value === this.#last) return 0;
    if (!Number.isFinite(value)) {
      this.noValues += 1;
      this.recordAbsence(scrape);
      return 0;
    }
    const step = value - this.#last;
    if (keep) {
      this.changedAt.push(scrape);
      this.#values.push(value);
      this.#last = value;
    }
    return Number.isNaN(step) ? 0 : step;
  }

  protected override pushNothing(): void {
    this.#values.push(NaN);
    this.#last = NaN;
  }
}

/** The bounds of a histogram's buckets. */
export interface Grid {
  readonly bounds: readonly number[];
  readonly texts: readonly string[];
}

/** A series of a classic histogram. One grid for its whole life: another grid is another series. */
export class HistogramSeries extends Series {
  readonly #grid: Grid;
  readonly #values = growingFloats();
  readonly #last: Float64Array;
  #lastKnown = false;

  constructor(family: FamilyFacts, labels: Labels, bornAt: number, bornOnKnownTarget: boolean, grid: Grid) {
    super(family, labels, bornAt, bornOnKnownTarget);
    this.#grid = grid;
    this.#last = new Float64Array(grid.bounds.length + 2);
  }

  /** Ascending, in the family's unit. */
  get bounds(): readonly number[] {
    return this.#grid.bounds;
  }

  /** The bounds as the page writes them. */
  get boundTexts(): readonly string[] {
    return this.#grid.texts;
  }

  /** Numbers per change: the cumulative counts, `_sum`, `_count`. */
  get stride(): number {
    return this.bounds.length + 2;
  }

  count(change: number, bucket: number): number {
    return this.#values.get(change * this.stride + bucket);
  }

  /** `_sum`; NaN: the page has none. */
  sum(change: number): number {
    return this.#values.get(change * this.stride + this.bounds.length);
  }

  /** `_count`, or the last bucket where the page has none. */
  total(change: number): number {
    const count = this.#values.get(change * this.stride + this.bounds.length + 1);
    return Number.isNaN(count) ? this.count(change, this.bounds.length - 1) : count;
  }

  /** `values` as in `stride`. The same answer as of `ScalarSeries.record`; a fall of any number but `_sum` is a fall. */
  record(scrape: number, values: Float64Array, keep: boolean): number {
    const buckets = this.bounds.length;
    let step = 0;
    let changed = !this.#lastKnown;
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as number;
      const last = this.#last[i] as number;
      if (value === last || (Number.isNaN(value) && Number.isNaN(last))) continue;
      changed = true;
      if (i < buckets && !Number.isFinite(value)) {
        this.noValues += 1;
        this.recordAbsence(scrape);
        return 0;
      }
      if (i !== buckets && this.#lastKnown) step = value < last ? -1 : step === 0 ? 1 : step;
    }
    if (changed && keep) {
      this.changedAt.push(scrape);
      this.#values.pushAll(values);
      this.#last.set(values);
      this.#lastKnown = true;
    }
    return step;
  }

  protected override pushNothing(): void {
    this.#values.pushAll(new Float64Array(this.stride).fill(NaN));
    this.#lastKnown = false;
  }
}

/** Counts by bound as the page writes it, in ascending order: an object would put whole numbers first. */
export type BucketCounts = readonly (readonly [le: string, count: number])[];

/** Whether its values only grow while its process lives. */
export function isCumulative(series: Series): series is HistogramSeries | ScalarSeries {
  return series instanceof HistogramSeries || (series instanceof ScalarSeries && series.isCounter);
}
