import type { Exposition } from '../../core/exposition/index.ts';
import { sameGrid } from '../../core/histogram/grid.ts';
import { growingFloats, growingIntegers } from './growing-array.ts';
import { NativeHistogramSeries } from './native-series.ts';
import { pageSeries, seriesKey } from './page-series.ts';
import type { HistogramPlace, NativePlace, PageSeries, ScalarPlace } from './page-series.ts';
import { HistogramSeries, isCumulative, ScalarSeries, type Series } from './series.ts';
import { StartTimes } from './start-times.ts';

/** Bounds of what one target may take of the memory. */
export interface StoreLimits {
  readonly maxSeries: number;
  /** Numbers kept, 8 bytes each; beyond it only scrapes at the edges of the run are kept. */
  readonly maxValues: number;
}

export const DEFAULT_STORE_LIMITS: StoreLimits = { maxSeries: 50_000, maxValues: 16_000_000 };

/** When a page was asked for and came; nanoseconds since the collection's zero. */
export interface ScrapeTimes {
  readonly sent_ns: number;
  readonly at_ns: number;
  readonly duration_ns: number;
  /** How far apart the scrapes were meant to be. */
  readonly interval_ns: number;
  /** At the beginning or the end of the run: kept also when the memory is used up. */
  readonly edge: boolean;
}

interface Plan {
  readonly layout: PageSeries;
  readonly scalars: readonly (ScalarSeries | null)[];
  readonly histograms: readonly (HistogramSeries | null)[];
  readonly natives: readonly (NativeHistogramSeries | null)[];
  readonly buffers: readonly Float64Array[];
}

/** All that one target's pages said, scrape after scrape. Scrapes are numbered from 0, failed ones included. */
export class TargetStore {
  readonly series: Series[] = [];
  /** Scrapes whose page came from a process that had begun anew since the scrape before. */
  readonly restarts: number[] = [];
  /** Series that were left out because there were too many (as far as they are counted), and samples because the memory was used up. */
  droppedSeries = 0;
  droppedSamples = 0;
  readonly #limits: StoreLimits;
  readonly #sent_ns = growingFloats();
  readonly #at_ns = growingFloats();
  readonly #durations_ns = growingFloats();
  readonly #intervals_ns = growingFloats();
  /** 0: failed, 1: a page, 2: the same page as before. */
  readonly #states = growingIntegers();
  readonly #failures = new Map<number, string>();
  readonly #byKey = new Map<string, Series>();
  readonly #refused = new Set<string>();
  readonly #startTimes = new StartTimes();
  #plan: Plan | null = null;
  #planOf: { readonly names: Int32Array; readonly labels: Int32Array; readonly bounds: Int32Array } | null = null;
  #lastOk = -1;
  #values = 0;

  constructor(limits: StoreLimits = DEFAULT_STORE_LIMITS) {
    this.#limits = limits;
  }

  /** Start times of the process or of its series, by series, Unix seconds. */
  get startTimes(): ReadonlyMap<string, number> {
    return this.#startTimes.all;
  }

  get scrapes(): number {
    return this.#at_ns.length;
  }

  /** Time of a scrape: the first byte of its answer, or when it failed. */
  at_ns(scrape: number): number {
    return this.#at_ns.get(scrape);
  }

  sent_ns(scrape: number): number {
    return this.#sent_ns.get(scrape);
  }

  duration_ns(scrape: number): number {
    return this.#durations_ns.get(scrape);
  }

  interval_ns(scrape: number): number {
    return this.#intervals_ns.get(scrape);
  }

  isOk(scrape: number): boolean {
    return scrape >= 0 && this.#states.get(scrape) > 0;
  }

  isRepeat(scrape: number): boolean {
    return this.#states.get(scrape) === 2;
  }

  /** Why a scrape brought nothing. */
  failureOf(scrape: number): string | null {
    return this.#failures.get(scrape) ?? null;
  }

  /** The last good scrape at or before a moment; −1: none. */
  lastOkAt(at_ns: number): number {
    for (let scrape = this.scrapes - 1; scrape >= 0; scrape--) {
      if (this.isOk(scrape) && this.at_ns(scrape) <= at_ns) return scrape;
    }
    return -1;
  }

  recordFailure(times: ScrapeTimes, message: string): void {
    this.#failures.set(this.#recordScrape(times, 0), message);
  }

  /** True: kept. False: the start times say that several servers answer here; nothing of this page was kept. */
  recordPage(times: ScrapeTimes, page: Exposition, repeated: boolean): boolean {
    const { columns } = page;
    const known = this.#planOf;
    const sameLines =
      known !== null &&
      known.names === columns.nameIds &&
      known.labels === columns.labelSetIds &&
      known.bounds === columns.boundIds;
    const layout = sameLines && this.#plan !== null ? this.#plan.layout : pageSeries(page);
    const verdict = this.#startTimes.see(layout.startTimes.map(({ key, row }) => [key, columns.values[row] as number]));
    if (verdict === 'several_servers') return false;

    const scrape = this.#recordScrape(times, repeated ? 2 : 1);
    const plan = sameLines && this.#plan !== null ? this.#plan : this.#newPlan(layout, scrape);
    const keep = times.edge || this.#values < this.#limits.maxValues;
    const { rose, fell } = this.#recordValues(plan, columns.values, scrape, keep);
    const seemsNew = fell > 0 && !this.#startTimes.known && fell > rose + this.#stoodStill(plan, scrape);
    if (verdict === 'restarted' || seemsNew) this.restarts.push(scrape);
    this.#plan = plan;
    this.#planOf = { names: columns.nameIds, labels: columns.labelSetIds, bounds: columns.boundIds };
    this.#lastOk = scrape;
    return true;
  }

  #recordScrape({ sent_ns, at_ns, duration_ns, interval_ns }: ScrapeTimes, state: number): number {
    this.#sent_ns.push(sent_ns);
    this.#at_ns.push(at_ns);
    this.#durations_ns.push(duration_ns);
    this.#intervals_ns.push(interval_ns);
    this.#states.push(state);
    return this.scrapes - 1;
  }

  #newPlan(layout: PageSeries, scrape: number): Plan {
    const scalars = layout.scalars.map((place) => this.#scalar(place, scrape));
    const histograms = layout.histograms.map((place) => this.#histogram(place, scrape));
    const natives = layout.natives.map((place) => this.#native(place, scrape));
    const present = new Set<Series | null>([...scalars, ...histograms, ...natives]);
    const { scalars: before = [], histograms: histogramsBefore = [], natives: nativesBefore = [] } = this.#plan ?? {};
    for (const series of [...before, ...histogramsBefore, ...nativesBefore]) {
      if (series !== null && !present.has(series)) series.recordAbsence(scrape);
    }
    return {
      layout,
      scalars,
      histograms,
      natives,
      buffers: layout.histograms.map((h) => new Float64Array(h.bounds.length + 2)),
    };
  }

  #recordValues(
    { layout, scalars, histograms, natives, buffers }: Plan,
    values: Float64Array,
    scrape: number,
    keep: boolean,
  ): { rose: number; fell: number } {
    let rose = 0;
    let fell = 0;
    for (let i = 0; i < scalars.length; i++) {
      const series = scalars[i];
      if (series == null) continue;
      const changes = series.changes;
      const step = series.record(scrape, values[(layout.scalars[i] as ScalarPlace).row] as number, keep);
      this.#values += series.changes - changes;
      if (!keep && step !== 0) this.droppedSamples += 1;
      if (step === 0 || !series.isCounter) continue;
      if (step < 0) fell += 1;
      else rose += 1;
    }
    for (let i = 0; i < histograms.length; i++) {
      const series = histograms[i];
      if (series == null) continue;
      const buffer = buffers[i] as Float64Array;
      readHistogram(layout.histograms[i] as HistogramPlace, values, buffer);
      const changes = series.changes;
      const step = series.record(scrape, buffer, keep);
      this.#values += (series.changes - changes) * series.stride;
      if (!keep && step !== 0) this.droppedSamples += 1;
      if (step < 0) fell += 1;
      else if (step > 0) rose += 1;
    }
    for (let i = 0; i < natives.length; i++) {
      const series = natives[i];
      if (series == null) continue;
      const changes = series.changes;
      const step = series.recordNative(scrape, (layout.natives[i] as NativePlace).histogram, keep);
      if (series.changes > changes) this.#values += series.lastSize;
      if (!keep && step !== 0) this.droppedSamples += 1;
      if (step < 0) fell += 1;
      else if (step > 0) rose += 1;
    }
    return { rose, fell };
  }

  /**
   * Cumulative series above 0 that did not move. Without a start time a process has begun anew when more series fell than
   * rose or stood still: a single counter that falls may be faulty, and only its own.
   */
  #stoodStill({ scalars, histograms, natives }: Plan, scrape: number): number {
    let count = 0;
    for (const series of scalars) {
      if (series?.isCounter === true && series.changes > 0 && !changedAt(series, scrape)) {
        if (series.value(series.changes - 1) > 0) count += 1;
      }
    }
    for (const series of [...histograms, ...natives]) {
      if (series !== null && series.changes > 0 && !changedAt(series, scrape)) {
        if (series.total(series.changes - 1) > 0) count += 1;
      }
    }
    return count;
  }

  #scalar({ family, labels }: ScalarPlace, scrape: number): ScalarSeries | null {
    const key = seriesKey(family.name, labels);
    const found = this.#byKey.get(key);
    if (found instanceof ScalarSeries) return found;
    return this.#add(key, () => new ScalarSeries(family, labels, scrape, this.#lastOk >= 0));
  }

  #histogram({ family, labels, bounds, boundTexts }: HistogramPlace, scrape: number): HistogramSeries | null {
    const key = `${seriesKey(family.name, labels)} histogram`;
    const found = this.#byKey.get(key);
    if (found instanceof HistogramSeries && sameGrid(found.bounds, bounds)) return found;
    const grid = { bounds, texts: boundTexts };
    return this.#add(key, () => new HistogramSeries(family, labels, scrape, this.#lastOk >= 0, grid));
  }

  #native({ family, labels }: NativePlace, scrape: number): NativeHistogramSeries | null {
    const key = `${seriesKey(family.name, labels)} native`;
    const found = this.#byKey.get(key);
    if (found instanceof NativeHistogramSeries) return found;
    return this.#add(key, () => new NativeHistogramSeries(family, labels, scrape, this.#lastOk >= 0));
  }

  /** Whether so many series were left out that no more are counted. */
  get droppedMoreSeries(): boolean {
    return this.#refused.size >= this.#limits.maxSeries;
  }

  #add<S extends Series>(key: string, make: () => S): S | null {
    if (this.series.length >= this.#limits.maxSeries) {
      if (this.#refused.size < this.#limits.maxSeries && !this.#refused.has(key)) {
        this.#refused.add(key);
        this.droppedSeries += 1;
      }
      return null;
    }
    const series = make();
    this.#byKey.set(key, series);
    this.series.push(series);
    return series;
  }

  /** Cumulative series with a value at that scrape. */
  *cumulativeAt(scrape: number): Generator<ScalarSeries | HistogramSeries> {
    for (const series of this.series) if (isCumulative(series) && series.hasValueAt(scrape)) yield series;
  }
}

function readHistogram(place: HistogramPlace, values: Float64Array, into: Float64Array): void {
  const { bucketRows, sumRow, countRow } = place;
  for (let i = 0; i < bucketRows.length; i++) into[i] = values[bucketRows[i] as number] as number;
  into[bucketRows.length] = sumRow < 0 ? NaN : (values[sumRow] as number);
  into[bucketRows.length + 1] = countRow < 0 ? NaN : (values[countRow] as number);
}

function changedAt(series: Series, scrape: number): boolean {
  return series.scrapeOf(series.changes - 1) === scrape;
}
