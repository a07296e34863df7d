import type { Exposition, Labels, SampleColumns } from '../../../core/exposition/index.ts';
import { sameGrid } from '../../../core/histogram/classic-histogram.ts';
import { START_TOLERANCE_SECONDS, type UnixInterval } from '../../../core/series/sighting.ts';
import { NativeHistogramSeries } from './native-series.ts';
import { PackedRows, type BlockStorage } from './packed-rows.ts';
import { pageSeries, seriesKey, startKeyOf } from './page-series.ts';
import type { HistogramPlace, NativePlace, PageSeries, ScalarPlace, StartTimePlace } from './page-series.ts';
import { HistogramSeries, ScalarSeries, type FamilyFacts, type Series, type SeriesBirth } from './series.ts';
import { SeriesLives } from './lives/series-lives.ts';

/** Memory limits of one target. */
export interface StoreLimits {
  readonly maxSeries: number;
  /** Numbers kept, 8 bytes each; beyond this limit only scrapes at the edges of the run are kept. */
  readonly maxValues: number;
}

export const DEFAULT_STORE_LIMITS: StoreLimits = { maxSeries: 50_000, maxValues: 16_000_000 };

/** When a page was requested and received; nanoseconds of the collection's clock. */
export interface ScrapeTimes {
  readonly sent_ns: number;
  readonly at_ns: number;
  readonly duration_ns: number;
  /** Intended interval between scrapes. */
  readonly interval_ns: number;
  /** At the start or the end of the run: kept even when the memory limit is reached. */
  readonly edge: boolean;
  /** Unix time by the clock of the server when it wrote the page; absent: not known. */
  readonly unixSeconds?: UnixInterval;
}

interface Plan {
  readonly layout: PageSeries;
  readonly scalars: readonly (ScalarSeries | null)[];
  readonly histograms: readonly (HistogramSeries | null)[];
  readonly natives: readonly (NativeHistogramSeries | null)[];
  readonly buffers: readonly Float64Array[];
  /** The page ended inside a line, and what else it lacks is not known. */
  readonly partial: boolean;
}

/**
 * Everything that one target's pages contained, scrape by scrape. Scrapes are numbered from 0, failed ones included.
 */
export class TargetStore {
  readonly series: Series[] = [];
  /** Families read as histograms although their pages have no TYPE for them. */
  readonly untypedHistograms = new Set<string>();
  /** Whether Ray exposes the values, which is later than the engines inside it count. */
  isOfRay = false;
  /** Whether sums of histograms on the pages are left out, because Ray makes them of the middles of the buckets. */
  omitsSums = false;
  /**
   * Number of samples on the page with the most duplicates, and how many of them duplicate an earlier sample of that
   * page.
   */
  duplicates = { samples: 0, repeated: 0 };
  /**
   * Series not stored because there were too many (as far as they are counted), and samples not stored because the
   * memory limit was reached.
   */
  droppedSeries = 0;
  droppedSamples = 0;
  /** Pages that ended inside a line. */
  cutPages = 0;
  readonly #limits: StoreLimits;
  readonly #storage: BlockStorage | null;
  readonly #sent_ns: PackedRows;
  readonly #at_ns: PackedRows;
  readonly #durations_ns: PackedRows;
  readonly #intervals_ns: PackedRows;
  /** 0: failed, 1: a page, 2: the same page as before. */
  readonly #states: PackedRows;
  readonly #failures = new Map<number, string>();
  readonly #byKey = new Map<string, Series>();
  readonly #refused = new Set<string>();
  readonly #lives = new SeriesLives(this);
  #plan: Plan | null = null;
  #planOf: { readonly names: Int32Array; readonly labels: Int32Array; readonly bounds: Int32Array } | null = null;
  #lastOk = -1;
  /** The series of the last whole line of that page, if it ended inside a line. */
  #cutBehind: string | null = null;
  /** Whether this page ends inside a line behind the same series. */
  #endsAlike = false;
  /** When the last page was written that shows which series there are; NaN: not known. Null: there was none. */
  #listedUnixSeconds: number | null = null;
  /** When the process of the first page started, at the earliest; null: not known. */
  #started_ns: number | null = null;
  /** Histograms of which a page had lines that were not used. */
  readonly #unread = new Set<string>();
  /** Whether the newest page lacks a series of the page before, or has it with other bounds. */
  #lost = false;
  #values = 0;

  /** With a storage, memory does not grow with the number of samples. */
  constructor(limits: StoreLimits = DEFAULT_STORE_LIMITS, storage: BlockStorage | null = null) {
    this.#limits = limits;
    this.#storage = storage;
    this.#sent_ns = new PackedRows(1, storage);
    this.#at_ns = new PackedRows(1, storage);
    this.#durations_ns = new PackedRows(1, storage);
    this.#intervals_ns = new PackedRows(1, storage);
    this.#states = new PackedRows(1, storage);
  }

  /** Start times on the pages, of processes or of single series, by series, in Unix seconds. */
  get startTimes(): ReadonlyMap<string, number> {
    return this.#lives.startTimes;
  }

  /** Whether the process of the first page is known to have started at that time or later. */
  startedSince(at_ns: number): boolean {
    return this.#started_ns !== null && this.#started_ns >= at_ns;
  }

  /** Scrapes whose page came from a process that had restarted since the good scrape before. */
  get restarts(): readonly number[] {
    return this.#lives.restarts;
  }

  /** Scrapes before which a process may have restarted; undecided. */
  get unclear(): readonly number[] {
    return this.#lives.unclear;
  }

  /** Why the pages appear to come from several servers behind one address; null: they come from one. */
  get severalServers(): string | null {
    return this.#lives.severalServers;
  }

  get scrapes(): number {
    return this.#at_ns.length;
  }

  /** Time of a scrape: the first byte of its response, or when it failed. */
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

  /** Why a scrape failed. */
  failureOf(scrape: number): string | null {
    return this.#failures.get(scrape) ?? null;
  }

  /** The last good scrape at or before a time; −1: none. */
  lastOkAt(at_ns: number): number {
    for (let scrape = this.scrapes - 1; scrape >= 0; scrape--) {
      if (this.isOk(scrape) && this.at_ns(scrape) <= at_ns) return scrape;
    }
    return -1;
  }

  recordFailure(times: ScrapeTimes, message: string): void {
    this.#failures.set(this.#recordScrape(times, 0), message);
  }

  /**
   * False: several servers answer at this address, and no increase is known. `cut`: the page ended inside a line, which it
   * does not include. Series that it lacks then keep their values, unless the page before ended at the same place.
   */
  recordPage(times: ScrapeTimes, page: Exposition, repeated: boolean, cut = false): boolean {
    const { columns } = page;
    const end = cut ? lastSeries(columns) : null;
    const partial = cut && (end === null || end !== this.#cutBehind);
    if (cut) this.cutPages += 1;
    // All that is new on a page that ends where the one before ended stands before the end of both.
    this.#endsAlike = cut && !partial;
    const known = this.#planOf;
    const sameLines =
      known !== null &&
      known.names === columns.nameIds &&
      known.labels === columns.labelSetIds &&
      known.bounds === columns.boundIds &&
      this.#plan?.partial === partial &&
      // The histograms of a page are in its layout.
      page.nativeHistograms.length + this.#plan.natives.length === 0;
    const layout = sameLines && this.#plan !== null ? this.#plan.layout : this.#layoutOf(page, partial);
    // Its counts may be those of a process that started since.
    if (partial && this.#lives.lacksProcessStart(layout.startTimes)) {
      this.recordFailure(times, 'the page is cut off before the start time of its process');
      return true;
    }
    if (!this.#lives.seeStartTimes(layout.startTimes, columns.values, times)) return false;

    const scrape = this.#recordScrape(times, repeated ? 2 : 1);
    this.#lost = false;
    const plan = sameLines && this.#plan !== null ? this.#plan : this.#newPlan(layout, scrape, partial);
    const keep = times.edge || this.#values < this.#limits.maxValues;
    let { fell, returned } = this.#recordValues(plan, columns.values, scrape, keep);
    // The evidence of restarts is kept regardless of the memory limit.
    if (fell && !keep) ({ fell, returned } = this.#recordValues(plan, columns.values, scrape, true));
    if (!sameLines) {
      for (const name of layout.untypedHistograms) this.untypedHistograms.add(name);
      this.isOfRay ||= layout.isOfRay;
      this.omitsSums ||= layout.omitsSums;
      const { count } = page.duplicates;
      if (count > this.duplicates.repeated) this.duplicates = { samples: columns.count + count, repeated: count };
    }
    this.#plan = plan;
    this.#planOf = { names: columns.nameIds, labels: columns.labelSetIds, bounds: columns.boundIds };
    const before = this.#lastOk;
    this.#lastOk = scrape;
    this.#cutBehind = end;
    if (!cut) this.#listedUnixSeconds = times.unixSeconds?.[0] ?? NaN;
    if (before < 0) {
      this.#started_ns = processStart_ns(layout.startTimes, columns.values, times);
      return true;
    }
    return this.#lives.judge(before, scrape, layout.startTimes, fell || returned || this.#lost);
  }

  #recordScrape({ sent_ns, at_ns, duration_ns, interval_ns }: ScrapeTimes, state: number): number {
    this.#sent_ns.push(sent_ns);
    this.#at_ns.push(at_ns);
    this.#durations_ns.push(duration_ns);
    this.#intervals_ns.push(interval_ns);
    this.#states.push(state);
    return this.scrapes - 1;
  }

  /** Of a page that may end inside a histogram, without the histograms of that family, and without series whose start times it lacks. */
  #layoutOf(page: Exposition, partial: boolean): PageSeries {
    const all = pageSeries(page);
    if (!partial) return all;
    const starts = new Set(all.startTimes.map(({ key }) => key));
    const hasItsStart = ({ family, labels }: { readonly family: FamilyFacts; readonly labels: Labels }): boolean =>
      Number.isNaN(this.#lives.startOf(family, labels)) || starts.has(startKeyOf(family, labels));
    const layout = {
      ...all,
      scalars: all.scalars.filter(hasItsStart),
      histograms: all.histograms.filter(hasItsStart),
      natives: all.natives.filter(hasItsStart),
    };
    const last = page.columns.count - 1;
    const cut = layout.histograms.find(
      ({ bucketRows, sumRow, countRow }) => bucketRows.includes(last) || sumRow === last || countRow === last,
    );
    if (cut === undefined) return layout;
    this.#unread.add(cut.family.name);
    return { ...layout, histograms: layout.histograms.filter(({ family }) => family.name !== cut.family.name) };
  }

  #newPlan(layout: PageSeries, scrape: number, partial: boolean): Plan {
    const scalars = layout.scalars.map((place) => this.#scalar(place, scrape));
    const histograms = layout.histograms.map((place) => this.#histogram(place, scrape));
    const natives = layout.natives.map((place) => this.#native(place, scrape));
    const present = new Set<Series | null>([...scalars, ...histograms, ...natives]);
    const { scalars: before = [], histograms: histogramsBefore = [], natives: nativesBefore = [] } = this.#plan ?? {};
    for (const series of [...before, ...histogramsBefore, ...nativesBefore]) {
      if (series === null || present.has(series)) continue;
      series.recordAbsence(scrape, !partial);
      this.#lost ||= !partial;
    }
    return {
      partial,
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
  ): { fell: boolean; returned: boolean } {
    let fell = false;
    let returned = false;
    const note = (series: Series, step: number, values: number): void => {
      this.#values += values;
      if (!keep && step !== 0) this.droppedSamples += 1;
      fell ||= step < 0 && (!(series instanceof ScalarSeries) || (series.isCounter && !series.isSum));
    };
    for (let i = 0; i < scalars.length; i++) {
      const series = scalars[i];
      if (series == null) continue;
      returned ||= series.isMissing;
      const changes = series.changes;
      const step = series.record(scrape, values[(layout.scalars[i] as ScalarPlace).row] as number, keep);
      if (step !== 0 || series.changes > changes) note(series, step, series.changes - changes);
    }
    for (let i = 0; i < histograms.length; i++) {
      const series = histograms[i];
      if (series == null) continue;
      returned ||= series.isMissing;
      const buffer = buffers[i] as Float64Array;
      readHistogram(layout.histograms[i] as HistogramPlace, values, buffer);
      const changes = series.changes;
      const step = series.record(scrape, buffer, keep);
      if (step !== 0 || series.changes > changes) note(series, step, (series.changes - changes) * series.stride);
    }
    for (let i = 0; i < natives.length; i++) {
      const series = natives[i];
      if (series == null) continue;
      returned ||= series.isMissing;
      const changes = series.changes;
      const step = series.recordNative(scrape, (layout.natives[i] as NativePlace).histogram, keep);
      if (step !== 0 || series.changes > changes) note(series, step, series.changes > changes ? series.lastSize : 0);
    }
    return { fell, returned };
  }

  #scalar({ family, labels }: ScalarPlace, scrape: number): ScalarSeries | null {
    const key = seriesKey(family.name, labels);
    const found = this.#byKey.get(key);
    if (found instanceof ScalarSeries) return found;
    return this.#add(key, () => new ScalarSeries(family, labels, this.#birth(scrape, family, labels)));
  }

  #histogram({ family, labels, bounds, boundTexts }: HistogramPlace, scrape: number): HistogramSeries | null {
    const key = `${seriesKey(family.name, labels)} histogram`;
    const found = this.#byKey.get(key);
    if (found instanceof HistogramSeries && sameGrid(found.bounds, bounds)) return found;
    const grid = { bounds, texts: boundTexts };
    const predecessor = found instanceof HistogramSeries ? found : null;
    this.#lost ||= predecessor !== null;
    const birth = predecessor === null ? this.#birth(scrape, family, labels) : this.#successor(scrape);
    return this.#add(key, () => new HistogramSeries(family, labels, birth, grid, predecessor));
  }

  #native({ family, labels }: NativePlace, scrape: number): NativeHistogramSeries | null {
    const key = `${seriesKey(family.name, labels)} native`;
    const found = this.#byKey.get(key);
    if (found instanceof NativeHistogramSeries) return found;
    return this.#add(key, () => new NativeHistogramSeries(family, labels, this.#birth(scrape, family, labels)));
  }

  #birth(scrape: number, family: FamilyFacts, labels: Labels): SeriesBirth {
    const listed = this.#listedUnixSeconds;
    const isLacked = listed !== null || (this.#endsAlike && !this.#unread.has(family.name));
    const isOlder = this.#lives.startOf(family, labels) < (listed ?? NaN) - START_TOLERANCE_SECONDS;
    return { ...this.#successor(scrape), startsAtZero: isLacked && !isOlder };
  }

  /** Of a series that takes over from another one. */
  #successor(scrape: number): SeriesBirth {
    return { scrape, startsAtZero: true, storage: this.#storage };
  }

  /** Whether more series were omitted than are counted. */
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

  /** The series of single numbers with this name and these labels. */
  scalarOf(name: string, labels: Series['labels']): ScalarSeries | null {
    const found = this.#byKey.get(seriesKey(name, labels));
    return found instanceof ScalarSeries ? found : null;
  }
}

/** When the process of a page started, at the earliest, by the collection's clock; null: the page does not say. */
function processStart_ns(
  places: readonly StartTimePlace[],
  values: Float64Array,
  { sent_ns, unixSeconds }: ScrapeTimes,
): number | null {
  const own = places.find(
    ({ kind, family, labels }) => kind === 'start' && family === null && Object.keys(labels).length === 0,
  );
  if (own === undefined || unixSeconds === undefined) return null;
  const start_ns = sent_ns - (unixSeconds[1] - (values[own.row] as number)) * 1e9;
  return Number.isFinite(start_ns) ? start_ns : null;
}

/** Identifies the series of the last line of a page. */
function lastSeries({ count, names, nameIds, labelSets, labelSetIds, bounds, boundIds }: SampleColumns): string | null {
  const row = count - 1;
  if (row < 0) return null;
  const bound = bounds[boundIds[row] as number] ?? '';
  return `${bound} ${seriesKey(names[nameIds[row] as number] as string, labelSets[labelSetIds[row] as number] as Labels)}`;
}

function readHistogram(place: HistogramPlace, values: Float64Array, into: Float64Array): void {
  const { bucketRows, sumRow, countRow } = place;
  for (let i = 0; i < bucketRows.length; i++) into[i] = values[bucketRows[i] as number] as number;
  into[bucketRows.length] = sumRow < 0 ? NaN : (values[sumRow] as number);
  const count = countRow < 0 ? NaN : (values[countRow] as number);
  into[bucketRows.length + 1] = countRow < 0 || Number.isFinite(count) ? count : Infinity;
}
