import type { Labels } from '../../../core/exposition/index.ts';
import { sameBound } from '../../../core/histogram/grid.ts';
import { judgeLives, mayBeOfAnother, type Sighting } from '../../../core/series/lives.ts';
import { StartTimes, type StartTime, type StartTimeChanges } from '../../../core/series/start-times.ts';
import { seriesKey, type StartTimePlace } from './page-series.ts';
import { HistogramSeries, isCumulative, ScalarSeries, type Series } from './series.ts';

type CumulativeSeries = HistogramSeries | ScalarSeries;

/** Labels that identify one of several processes whose series are on one page. */
const PROCESS_LABELS = ['pid', 'process', 'worker', 'worker_id', 'replica', 'instance', 'pod'] as const;

/** How many pages back to search for one that a page continues. */
const PAGES_BACK = 500;
/** Numbers with fewer significant digits recur by chance in a restarted process, such as 209 requests or a sum of 7.1 s. */
const DIGITS_OF_DISTINCT_NUMBER = 4;
/** A jump between two servers shows in at least this many series. */
const SERIES_OF_A_JUMP = 200;

/** The part of a store needed to track restarts of its series. */
interface Pages {
  readonly series: readonly Series[];
  isOk(scrape: number): boolean;
  scalarOf(name: string, labels: Labels): ScalarSeries | null;
}

/**
 * Tracks, page by page, which series of one target restart: marks the scrapes at the series (`anewAt`, `unclearAt`) and
 * records those at which a process restarted or may have restarted.
 */
export class SeriesLives {
  readonly restarts: number[] = [];
  readonly unclear: number[] = [];
  severalServers: string | null = null;
  readonly #pages: Pages;
  readonly #starts = new StartTimes();
  readonly #uptimes = new StartTimes();
  #changes: StartTimeChanges = { severalServers: false, renewed: new Set(), same: new Set() };
  /** The first page that lacked the series whose return revealed the last restart. */
  #absenceOfRestart: number | null = null;
  /** Pages on which missing series continued from their values while the others did not. */
  #swaps = 0;
  /** Whether a page may be that of another server: its counts returned to where an older page had left them. */
  #suspected = false;
  /** The pages between which counts last fell. */
  #lastFall: { readonly before: number; readonly scrape: number } | null = null;

  /** Series that were missing from a page and returned with at least their old values. */
  readonly #resumed = new Set<CumulativeSeries>();
  /** Series that decreased alone in a living process: their totals before, and the page on which they decreased. */
  readonly #lostAlive = new Map<CumulativeSeries, { readonly total: number; readonly scrape: number }>();

  constructor(pages: Pages) {
    this.#pages = pages;
  }

  get startTimes(): ReadonlyMap<string, number> {
    return this.#starts.all;
  }

  /** False: the start times show that several servers answer. */
  seeStartTimes(
    places: readonly StartTimePlace[],
    values: Float64Array,
    { sent_ns, at_ns }: { readonly sent_ns: number; readonly at_ns: number },
  ): boolean {
    const starts: StartTime[] = [];
    const uptimes: StartTime[] = [];
    for (const { key, row, kind } of places) {
      const seconds = values[row] as number;
      if (kind === 'start') starts.push({ key, earliest: seconds, latest: seconds });
      // The page was written at some time between the request and the first byte of the answer.
      else uptimes.push({ key, earliest: sent_ns / 1e9 - seconds - 0.5, latest: at_ns / 1e9 - seconds + 0.5 });
    }
    const [a, b] = [this.#starts.see(starts, at_ns / 1e9), this.#uptimes.see(uptimes, at_ns / 1e9)];
    if (a.severalServers || b.severalServers) {
      this.severalServers = 'the start time of the process went back';
      return false;
    }
    this.#changes = {
      severalServers: false,
      renewed: new Set([...a.renewed, ...b.renewed]),
      same: new Set([...a.same, ...b.same]),
    };
    return true;
  }

  /**
   * Compares a page with the good one before. `changed`: a number decreased, or a series vanished or returned;
   * otherwise only start times can reveal a restart. False: several servers answer.
   */
  judge(before: number, scrape: number, places: readonly StartTimePlace[], changed: boolean): boolean {
    if (!changed && this.#changes.renewed.size === 0 && !this.#regained(before, scrape)) return true;
    const proofOf = this.#proofs(places);
    let returned = false;
    const resumed: CumulativeSeries[] = [];
    const seen: Seen[] = [];
    const appeared: Seen[] = [];
    for (const series of this.#pages.series) {
      if (!isCumulative(series)) continue;
      const proof = proofOf(series);
      const sighting = isSum(series) ? null : sightingOf(series, before, scrape, proof);
      if (sighting !== null) seen.push({ series, sighting });
      else if (!series.hasValueAt(before)) {
        returned = this.#judgeAbsent(series, scrape, proof) || returned;
        if (resumesItsValue(series, scrape)) resumed.push(series);
        if (series.hasValueAt(scrape) && !isSum(series)) appeared.push({ series, sighting: appearance(series, proof) });
      }
    }
    const { lives, restarted, unclear } = judgeLives([...seen, ...appeared].map(({ sighting }) => sighting));
    const unproven = seen
      .filter(({ sighting }, i) => lives[i] === 'anew' && sighting.proof === null)
      .map(({ series }) => series);
    const fell = seen.some(({ sighting }, i) => lives[i] === 'anew' && sighting.step === 'fell');
    const swaps =
      resumed.length > 0 && (seen.length === 0 || seen.some(({ sighting }) => sighting.step !== 'continued'));
    const ofAnother =
      this.#mayAlternate(seen, appeared, swaps, before, scrape) ||
      this.#resumesAgain(resumed, seen) ||
      this.#vanishAgain(seen);
    for (const series of resumed) this.#resumed.add(series);
    const jumped = fell && (restarted || unclear) && this.#resumesOlderPage(unproven, before, scrape);
    this.#suspected ||= jumped;
    const doubtful = new Set(jumped ? unproven : []);
    const doubtfulProcesses = new Set(Array.from(doubtful, processOf));
    for (const [i, { series, sighting }] of seen.entries()) {
      const ofOther = ofAnother && sighting.proof !== 'renewed';
      // A series at 0 is also on the page of another server, which counts it from elsewhere.
      const wasZero = !sighting.counted && doubtfulProcesses.has(processOf(series)) && totalAt(series, scrape) > 0;
      if (lives[i] === 'unclear' || doubtful.has(series) || ofOther || wasZero) series.unclearAt.push(scrape);
      else if (lives[i] === 'anew') series.anewAt.push(scrape);
    }
    for (const [i, { series }] of appeared.entries()) {
      const ofOther = ofAnother || doubtfulProcesses.has(processOf(series));
      if (ofOther || lives[seen.length + i] === 'unclear') series.unclearAt.push(scrape);
    }
    if (places.length > 0) doubtBirths(seen);
    this.#followSums(scrape, restarted);
    if (unclear || ofAnother || doubtful.size > 0) this.unclear.push(scrape);
    else if (restarted || returned) this.restarts.push(scrape);

    // Twice, series continue while others decrease or vanish: pages of two servers alternate.
    if (swaps) this.#swaps += 1;
    const alternates = fell && (restarted || unclear) && this.#countsAlternate(unproven, before, scrape);
    if (this.#swaps < 2 && !alternates) return true;
    this.severalServers = 'its counts alternate between those of several processes';
    return false;
  }

  /**
   * Whether the pages since the last decrease began with a jump and continued where that decrease had interrupted the
   * earlier pages.
   */
  #countsAlternate(unproven: readonly CumulativeSeries[], before: number, scrape: number): boolean {
    const last = this.#lastFall;
    this.#lastFall = { before, scrape };
    if (last === null || !passed(unproven, last.before, before)) return false;
    return this.#jumped(unproven, last.scrape, before, scrape);
  }

  /**
   * A series that is missing from a good page and returns belongs to a new process, unless a start time proves
   * otherwise. True: it reveals a restart that was not known.
   */
  #judgeAbsent(series: CumulativeSeries, scrape: number, proof: Sighting['proof']): boolean {
    const returns = series.hasValueAt(scrape) && lastValueBefore(series, scrape) !== null;
    const earlier = earlierOf(series, scrape);
    // Its predecessor with another grid belonged to a process that has restarted since.
    if (returns && earlier !== series && startedSinceLastValue(earlier)) {
      series.anewAt.push(scrape);
      return false;
    }
    if (proof !== 'renewed' && !(returns && proof === null && wasMissing(series, scrape))) return false;
    // A restart since its last value is marked already.
    if (!returns && startedSinceLastValue(series)) return false;
    if (returns && series.anewAt.some((anew) => anew >= (series.absentSince(scrape - 1) ?? Infinity))) return false;
    series.anewAt.push(scrape);
    // Families of one process that return one by one indicate one restart.
    const absentSince = earlier.absentSince(scrape - 1);
    if (absentSince === this.#absenceOfRestart) return false;
    this.#absenceOfRestart = absentSince;
    return true;
  }

  /** The sum of a summary restarts with its count. */
  #followSums(scrape: number, restarted: boolean): void {
    for (const series of this.#pages.series) {
      if (!isSum(series) || series.anewAt.at(-1) === scrape) continue;
      const count = this.#pages.scalarOf(series.family.name.replace(/_sum$/, '_count'), series.labels);
      if (count === null ? restarted : count.anewAt.at(-1) === scrape) series.anewAt.push(scrape);
      else if (count?.unclearAt.at(-1) === scrape) series.unclearAt.push(scrape);
    }
  }

  /**
   * Whether the decreased series exceed the values of an older page. A restarted process counts from 0 and is normally
   * below all of them; one of several alternating servers continues from its own last page. Once that is suspected, the
   * values may have come in many steps: the servers count while they are not seen.
   */
  #resumesOlderPage(series: readonly CumulativeSeries[], before: number, scrape: number): boolean {
    const isResumed = (page: number): boolean => passed(series, page, scrape);
    if (this.#suspected) return this.#newestPage(before, isResumed) !== null;
    return this.#returnsToOlderPage(series, before, scrape, isResumed);
  }

  /**
   * Whether a page of a living process, by its start time, may be that of a server that started at the same time: a
   * part of its series decreased to where an older page left them, or is back at once above what it had lost, or series
   * return while others are missing, or vanish again after they had returned. The process may also have reset or omitted
   * them itself.
   */
  #mayAlternate(
    seen: readonly Seen[],
    appeared: readonly Seen[],
    swaps: boolean,
    before: number,
    scrape: number,
  ): boolean {
    for (const { series, sighting } of seen) if (sighting.proof === 'renewed') this.#lostAlive.delete(series);
    const lives = ({ sighting }: Seen): boolean => sighting.proof === 'same';
    if (!seen.some(lives) && !appeared.some(lives)) return false;
    if (this.#regained(before, scrape)) {
      this.#lostAlive.clear();
      return true;
    }
    if (!mayBeOfAnother(seen.map(({ sighting }) => sighting))) return false;
    const fallen = seen.filter((each) => lives(each) && each.sighting.step === 'fell').map(({ series }) => series);
    const vanishAgain = seen.some(
      (each) => lives(each) && each.sighting.step === 'vanished' && this.#resumed.has(each.series),
    );
    if (swaps || vanishAgain) return true;
    if (this.#returnsToOlderPage(fallen, before, scrape, (page) => returnedTo(fallen, page, scrape))) return true;
    for (const series of fallen) this.#lostAlive.set(series, { total: totalAt(series, before), scrape });
    return false;
  }

  /**
   * Whether series return with at least their old values, as they did before: a process that restarts late and late again
   * does so by chance, two alternating servers always do.
   */
  #resumesAgain(resumed: readonly CumulativeSeries[], seen: readonly Seen[]): boolean {
    if (!resumed.some((series) => this.#resumed.has(series))) return false;
    const missed = resumed.map((series) => ({ ...appearance(series, null), step: 'vanished' as const }));
    return mayBeOfAnother([...missed, ...seen.map(({ sighting }) => sighting)]);
  }

  /** Whether a page lacks all that was counted, and what had returned with at least its old values is among it. */
  #vanishAgain(seen: readonly Seen[]): boolean {
    const counted = seen.filter(({ sighting }) => sighting.counted);
    return (
      counted.some(({ series }) => this.#resumed.has(series)) &&
      counted.every(({ sighting }) => sighting.step === 'vanished' && sighting.proof !== 'renewed')
    );
  }

  /** Whether a series that decreased in a living process is back above its old value, most of the way in one step. */
  #regained(before: number, scrape: number): boolean {
    return Array.from(this.#lostAlive).some(([series, lost]) => {
      const [last, now] = [totalAt(series, before), totalAt(series, scrape)];
      return last < lost.total && now >= lost.total && now - last >= (now - totalAt(series, lost.scrape)) / 2;
    });
  }

  /** Whether decreased series are where an older page left them, and most of what they lost had come in one step. */
  #returnsToOlderPage(
    series: readonly CumulativeSeries[],
    before: number,
    scrape: number,
    isResumed: (page: number) => boolean,
  ): boolean {
    const older = this.#newestPage(before, isResumed);
    return older !== null && this.#jumped(series, older, before, scrape);
  }

  /** The newest page older than this one of which that is true; null: none. */
  #newestPage(before: number, isResumed: (page: number) => boolean): number | null {
    for (let page = before - 1; page >= Math.max(0, before - PAGES_BACK); page--) {
      if (this.#pages.isOk(page) && isResumed(page)) return page;
    }
    return null;
  }

  /**
   * Whether most of the increase from the older page to the previous one was a single step: the step from one server to
   * another. The counts of a single process increase gradually.
   */
  #jumped(all: readonly CumulativeSeries[], from: number, before: number, scrape: number): boolean {
    const series = all.slice(0, SERIES_OF_A_JUMP);
    const totalOn = (page: number): number => series.reduce((sum, each) => sum + totalAt(each, page), 0);
    let largest = 0;
    let last = totalOn(from);
    for (let page = from + 1; page <= before; page++) {
      if (!this.#pages.isOk(page)) continue;
      const total = totalOn(page);
      largest = Math.max(largest, total - last);
      last = total;
    }
    return largest >= (last - totalOn(scrape)) / 2;
  }

  /** What the start times of the page prove about a series: its own, or that of the process named by its labels. */
  #proofs(places: readonly StartTimePlace[]): (series: Series) => Sighting['proof'] {
    // A page that lacks all known start times is incomplete; the next page decides.
    if (places.length === 0 && (this.#starts.known || this.#uptimes.known)) return () => 'same';
    const own = new Map<string, string>();
    const processes: { readonly labels: readonly (readonly [string, string])[]; readonly key: string }[] = [];
    for (const { key, labels, family } of places) {
      if (family === null) processes.push({ labels: Object.entries(labels), key });
      else own.set(seriesKey(family, labels), key);
    }
    processes.sort((a, b) => b.labels.length - a.labels.length);
    const proof = (key: string | undefined): Sighting['proof'] => {
      if (key === undefined) return null;
      return this.#changes.renewed.has(key) ? 'renewed' : this.#changes.same.has(key) ? 'same' : null;
    };
    return ({ family, labels }) => {
      const name = family.ofSummary ? family.name.replace(/_(sum|count)$/, '') : family.name;
      const ofSeries = own.size === 0 ? undefined : own.get(seriesKey(name, labels));
      if (ofSeries !== undefined) return proof(ofSeries);
      return proof(processes.find((each) => each.labels.every(([label, value]) => labels[label] === value))?.key);
    };
  }
}

/** A series that both pages have, or only the newer one, and what they show of it. */
interface Seen {
  readonly series: CumulativeSeries;
  readonly sighting: Sighting;
}

/** Of a series that the page before lacks. */
const appearance = (series: CumulativeSeries, proof: Sighting['proof']): Sighting => ({
  step: 'appeared',
  counted: false,
  stood: false,
  proof,
  process: processOf(series),
});

/**
 * A page that lacks all that was counted, under the start time of a living process, may be that of an idle server that
 * started at the same time: what appeared before was then not counted from 0. A single series may be left out.
 */
function doubtBirths(seen: readonly Seen[]): void {
  const counted = seen.filter(({ sighting }) => sighting.counted);
  if (counted.length < 2) return;
  if (counted.some(({ sighting }) => sighting.proof !== 'same' || sighting.step !== 'vanished')) return;
  for (const { series } of counted) if (series.bornOnKnownTarget) series.unclearAt.push(series.bornAt);
}

/** Whether every series counted on one page is also counted on another one, and there is at least one. */
function passed(series: readonly CumulativeSeries[], page: number, later: number): boolean {
  let counted = false;
  const all = series.every((each) => {
    const then = totalAt(each, page);
    counted ||= then > 0;
    return !(then > 0) || totalAt(each, later) >= then;
  });
  return all && counted;
}

/** Whether no series is below its value on an older page that had one of them: there, also a 0 is a value. */
function returnedTo(series: readonly CumulativeSeries[], page: number, later: number): boolean {
  return (
    series.some((each) => each.hasValueAt(page)) && series.every((each) => totalAt(each, later) >= totalAt(each, page))
  );
}

/** Whether a series returns with at least its count at the time it vanished. */
function resumesItsValue(series: CumulativeSeries, scrape: number): boolean {
  const last = lastValueBefore(series, scrape);
  if (last === null || !series.hasValueAt(scrape)) return false;
  const then = totalOf(earlierOf(series, scrape), last);
  return then > 0 && totalAt(series, scrape) >= then;
}

/** Whether an absent series is known to restart after its last value. */
function startedSinceLastValue(series: CumulativeSeries): boolean {
  const last = series.lastValueAt(series.changes - 1);
  return last >= 0 && (series.anewAt.at(-1) ?? -1) > series.scrapeOf(last);
}

const isSum = (series: Series): boolean => series instanceof ScalarSeries && series.isSum;

/** Null: the series was not on the page before, or its successor with another grid is judged instead. */
function sightingOf(
  series: CumulativeSeries,
  before: number,
  scrape: number,
  proof: Sighting['proof'],
): Sighting | null {
  const earlier = earlierOf(series, scrape);
  if (!earlier.hasValueAt(before)) return null;
  const then = earlier.changeAt(before);
  const now = series.changeAt(scrape);
  const common = { counted: totalOf(earlier, then) > 0, stood: false, proof, process: processOf(series) };
  if (series.hasValueAt(scrape)) {
    const stood = earlier === series && then === now && isDistinct(series, now);
    return { ...common, stood, step: fell(earlier, then, series, now) ? 'fell' : 'continued' };
  }
  if (!series.isMissing) return null;
  return replacedAt(series, scrape) ? null : { ...common, step: 'vanished' };
}

/** Whether a restarted process is unlikely to show exactly this number. */
function isDistinct(series: CumulativeSeries, change: number): boolean {
  const numbers =
    series instanceof HistogramSeries ? [series.total(change), series.sum(change)] : [series.value(change)];
  return numbers.some((value) => significantDigits(value) >= DIGITS_OF_DISTINCT_NUMBER);
}

/** Without trailing zeros, and without the rounding of a sum: 10.299999999999999 has three. */
function significantDigits(value: number): number {
  const [mantissa = ''] = Number(Math.abs(value).toPrecision(12)).toExponential().split('e');
  return mantissa.replace('.', '').length;
}

/** The series that held the values before: its predecessor when it was born on this page. */
function earlierOf(series: CumulativeSeries, scrape: number): CumulativeSeries {
  if (series instanceof HistogramSeries && series.predecessor !== null && series.bornAt === scrape)
    return series.predecessor;
  return series;
}

const replacedAt = (series: CumulativeSeries, scrape: number): boolean =>
  series instanceof HistogramSeries && series.successorBornAt === scrape;

function lastValueBefore(series: CumulativeSeries, scrape: number): number | null {
  const earlier = earlierOf(series, scrape);
  const change = earlier.lastValueAt(earlier.changeAt(scrape - 1));
  return change < 0 ? null : change;
}

/** Whether pages before this one lacked the series itself, not only a finite value. */
function wasMissing(series: CumulativeSeries, scrape: number): boolean {
  const earlier = earlierOf(series, scrape);
  return earlier.wasMissingAt(earlier.changeAt(scrape - 1));
}

/** Whether a monotonic number decreased; for two grids only their common bounds are compared. */
function fell(earlier: CumulativeSeries, then: number, series: CumulativeSeries, now: number): boolean {
  if (totalOf(series, now) < totalOf(earlier, then)) return true;
  if (!(series instanceof HistogramSeries) || !(earlier instanceof HistogramSeries)) return false;
  return sharedBuckets(earlier, series).some(([a, b]) => series.count(now, b) < earlier.count(then, a));
}

/** Pairs of the buckets with the same bound. */
export function sharedBuckets(a: HistogramSeries, b: HistogramSeries): readonly (readonly [number, number])[] {
  if (a === b) return a.bounds.map((_, i) => [i, i]);
  return a.bounds.flatMap((bound, i) => {
    const j = b.bounds.findIndex((other) => sameBound(bound, other));
    return j < 0 ? [] : [[i, j] as const];
  });
}

function totalAt(series: CumulativeSeries, scrape: number): number {
  return series.hasValueAt(scrape) ? totalOf(series, series.changeAt(scrape)) : 0;
}

function totalOf(series: CumulativeSeries, change: number): number {
  return series instanceof HistogramSeries ? series.total(change) : series.value(change);
}

function processOf({ labels }: Series): string {
  return PROCESS_LABELS.flatMap((label) => (labels[label] === undefined ? [] : [`${label}=${labels[label]}`])).join();
}
