import type { SeriesType } from '../../../core/run/servers-file.ts';
import type { Labels } from '../../../core/exposition/index.ts';
import { PackedRows, type BlockStorage } from './packed-rows.ts';

/** A family as described by its page. */
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

/** How a series was seen first. */
export interface SeriesBirth {
  /** The first scrape that had it. */
  readonly scrape: number;
  /** Whether it did not exist before: an earlier page of the same target lacked it, and it was not created before that. */
  readonly startsAtZero: boolean;
  /** Keeps its samples; null: they stay in memory. */
  readonly storage: BlockStorage | null;
}

/**
 * The samples of one series: only changes are kept, with the scrape at which each was seen. Between two changes the
 * value was constant; an absence is a change too. The representation is lossless.
 */
export abstract class Series {
  readonly family: FamilyFacts;
  /** Without `le`. */
  readonly labels: Labels;
  /** The first scrape that had it. */
  readonly bornAt: number;
  /** Whether it counts from 0: an earlier page of the same target lacked it, and it was not created before that. */
  readonly startsAtZero: boolean;
  /** Values that were NaN or infinite. */
  noValues = 0;
  /**
   * Scrapes at which it starts again from 0: its process restarted, or only this series was reset. Cumulative series
   * only.
   */
  readonly anewAt: number[] = [];
  /** Scrapes at which it is unknown whether it started again from 0 since the previous one. */
  readonly unclearAt: number[] = [];
  protected readonly changedAt: PackedRows;
  /** By change: whether the page lacked the series; false: its value was not a finite number. */
  readonly #absences = new Map<number, boolean>();

  constructor(family: FamilyFacts, labels: Labels, { scrape, startsAtZero, storage }: SeriesBirth) {
    this.family = family;
    this.labels = labels;
    this.bornAt = scrape;
    this.startsAtZero = startsAtZero;
    this.changedAt = new PackedRows(1, storage);
  }

  get changes(): number {
    return this.changedAt.length;
  }

  /** The scrape of a change. */
  scrapeOf(change: number): number {
    return this.changedAt.get(change);
  }

  isAbsent(change: number): boolean {
    return this.#absences.has(change);
  }

  /** Whether the newest page lacks it. */
  get isMissing(): boolean {
    return this.wasMissingAt(this.changes - 1);
  }

  /** Whether a change is an absence in which pages lacked the series. */
  wasMissingAt(change: number): boolean {
    return this.#absences.get(change) === true;
  }

  /** The scrape from which on it is absent, when it is at this one. */
  absentSince(scrape: number): number | null {
    const change = this.changeAt(scrape);
    return change >= 0 && this.isAbsent(change) ? this.scrapeOf(change) : null;
  }

  /**
   * The change with the value that the series has at a scrape, or had before pages that have no finite number for it; −1:
   * none, or the page lacks the series.
   */
  knownAt(scrape: number): number {
    const change = this.changeAt(scrape);
    return this.wasMissingAt(change) ? -1 : this.lastValueAt(change);
  }

  /** Whether it is known to exist at a scrape without a value there. */
  isUnknownAt(scrape: number): boolean {
    const change = this.changeAt(scrape);
    return change >= 0 && this.isAbsent(change) && !this.wasMissingAt(change);
  }

  /** The last change with a value at or before a change; −1: none. */
  lastValueAt(change: number): number {
    while (change >= 0 && this.isAbsent(change)) change -= 1;
    return change;
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

  /** Whether the page of that scrape had it with a finite value. */
  hasValueAt(scrape: number): boolean {
    const change = this.changeAt(scrape);
    return change >= 0 && !this.isAbsent(change);
  }

  /** The page of this scrape lacks it, or has no finite number for it. */
  recordAbsence(scrape: number, missing: boolean): void {
    const last = this.changes - 1;
    if (missing) this.forgetValue();
    if (last >= 0 && this.isAbsent(last)) {
      if (missing) this.#absences.set(last, true);
      return;
    }
    this.#absences.set(this.changes, missing);
    this.changedAt.push(scrape);
    this.pushNothing();
  }

  protected abstract pushNothing(): void;

  /** The next value is not compared with the last one. */
  protected abstract forgetValue(): void;
}

/** A series with one number per sample. */
export class ScalarSeries extends Series {
  readonly #values: PackedRows;
  /** NaN: the last change is an absence. */
  #last = NaN;
  /** The value with which the next one is compared. */
  #known = NaN;

  constructor(family: FamilyFacts, labels: Labels, birth: SeriesBirth) {
    super(family, labels, birth);
    this.#values = new PackedRows(1, birth.storage);
  }

  get isCounter(): boolean {
    return this.family.type === 'counter';
  }

  /** The sum of a summary: a negative observation decreases it, which is not a reset. */
  get isSum(): boolean {
    return this.family.ofSummary && this.isCounter && this.family.name.endsWith('_sum');
  }

  /** NaN where it was absent. */
  value(change: number): number {
    return this.#values.get(change);
  }

  /** Negative: it decreased; positive: it increased; 0: unchanged or not comparable. `keep` false only compares. */
  record(scrape: number, value: number, keep: boolean): number {
    if (value === this.#last) return 0;
    if (!Number.isFinite(value)) {
      this.noValues += 1;
      this.recordAbsence(scrape, false);
      return 0;
    }
    const step = value - this.#known;
    if (keep) {
      this.changedAt.push(scrape);
      this.#values.push(value);
      this.#last = value;
      this.#known = value;
    }
    return Number.isNaN(step) ? 0 : step;
  }

  protected override pushNothing(): void {
    this.#values.push(NaN);
    this.#last = NaN;
  }

  protected override forgetValue(): void {
    this.#known = NaN;
  }
}

/** The bounds of a histogram's buckets. */
export interface Grid {
  readonly bounds: readonly number[];
  readonly texts: readonly string[];
}

/** A series of a classic histogram. Its grid never changes: another grid starts a new series, its successor. */
export class HistogramSeries extends Series {
  /** The series of the same labels on the page before, with another grid. */
  readonly predecessor: HistogramSeries | null;
  /** The scrape at which a successor replaced it; null: none. */
  successorBornAt: number | null = null;
  readonly #grid: Grid;
  /** A row per change: the cumulative counts, `_sum`, `_count`. */
  readonly #values: PackedRows;
  readonly #last: Float64Array;
  /** Whether the last change has these values, and whether the next ones are compared with them. */
  #lastHolds = false;
  #lastKnown = false;

  constructor(
    family: FamilyFacts,
    labels: Labels,
    birth: SeriesBirth,
    grid: Grid,
    predecessor: HistogramSeries | null = null,
  ) {
    super(family, labels, birth);
    this.#grid = grid;
    this.predecessor = predecessor;
    if (predecessor !== null) predecessor.successorBornAt = birth.scrape;
    this.#last = new Float64Array(grid.bounds.length + 2);
    this.#values = new PackedRows(grid.bounds.length + 2, birth.storage);
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
    return this.#values.get(change, bucket);
  }

  /** `_sum`; NaN: the page has none. */
  sum(change: number): number {
    return this.#values.get(change, this.bounds.length);
  }

  /** `_count`, or the last bucket where the page has none. */
  total(change: number): number {
    const count = this.#values.get(change, this.bounds.length + 1);
    return Number.isNaN(count) ? this.count(change, this.bounds.length - 1) : count;
  }

  /**
   * `values` as in `stride`; an infinite `_count` is one that is no number. Same result as `ScalarSeries.record`; a decrease of any number but `_sum` counts as a
   * decrease.
   */
  record(scrape: number, values: Float64Array, keep: boolean): number {
    const buckets = this.bounds.length;
    // Where the count is no number, that of the +Inf bucket is the count.
    if (values[buckets + 1] === Infinity) {
      if (this.bounds.at(-1) !== Infinity) return this.#recordNoNumber(scrape);
      values[buckets + 1] = NaN;
    }
    let step = 0;
    let changed = !this.#lastHolds;
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as number;
      const last = this.#last[i] as number;
      if (value === last || (Number.isNaN(value) && Number.isNaN(last))) continue;
      changed = true;
      if (i < buckets && !Number.isFinite(value)) return this.#recordNoNumber(scrape);
      if (i !== buckets && this.#lastKnown) step = value < last ? -1 : step === 0 ? 1 : step;
    }
    if (changed && keep) {
      this.changedAt.push(scrape);
      this.#values.pushRow(values);
      this.#last.set(values);
      this.#lastHolds = true;
      this.#lastKnown = true;
    }
    return step;
  }

  #recordNoNumber(scrape: number): number {
    this.noValues += 1;
    this.recordAbsence(scrape, false);
    return 0;
  }

  protected override pushNothing(): void {
    this.#values.pushRow(new Float64Array(this.stride).fill(NaN));
    this.#lastHolds = false;
  }

  protected override forgetValue(): void {
    this.#lastKnown = false;
  }
}

/** Whether its values never decrease while its process runs. */
export function isCumulative(series: Series): series is HistogramSeries | ScalarSeries {
  return series instanceof HistogramSeries || (series instanceof ScalarSeries && series.isCounter);
}
