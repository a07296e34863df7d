import { mayBeOfAnother } from '../../../../core/series/lives.ts';
import { UNPROVEN, type Proofs, type Sighting } from '../../../../core/series/sighting.ts';
import { HistogramSeries } from '../series.ts';
import {
  earlierOf,
  fell,
  lastValueBefore,
  replacedAt,
  totalOf,
  wasMissing,
  totalAt,
  type CumulativeSeries,
} from './cumulative-values.ts';

/** Numbers with fewer significant digits recur by chance in a restarted process, such as 209 requests or a sum of 7.1 s. */
const DIGITS_OF_DISTINCT_NUMBER = 4;

/** A series that both pages have, or only the newer one, and what they show of it. */
export interface SeenSeries {
  readonly series: CumulativeSeries;
  readonly sighting: Sighting;
}

/** Null: the series was not on the page before, or its successor with another grid is judged instead. */
export function sightingOf(series: CumulativeSeries, before: number, scrape: number, proofs: Proofs): Sighting | null {
  const earlier = earlierOf(series, scrape);
  const then = earlier.knownAt(before);
  if (then < 0) return null;
  // Whether it began anew was decided on a page that had no number for it.
  const decided = Math.max(earlier.anewAt.at(-1) ?? -1, earlier.unclearAt.at(-1) ?? -1);
  if (earlier.isUnknownAt(before) && decided > earlier.scrapeOf(then)) return null;
  const now = series.changeAt(scrape);
  const common = { counted: totalOf(earlier, then) > 0, stood: false, ...proofs, family: series.family.name };
  if (series.hasValueAt(scrape)) {
    const stood = earlier === series && then === now && isDistinct(series, now);
    return { ...common, stood, step: fell(earlier, then, series, now) ? 'fell' : 'continued' };
  }
  if (!series.isMissing) return null;
  return replacedAt(series, scrape) ? null : { ...common, step: 'vanished' };
}

/** Of a series that the page before lacks. */
export const appearance = (series: CumulativeSeries, proofs: Proofs): Sighting => ({
  step: 'appeared',
  counted: false,
  stood: false,
  ...proofs,
  family: series.family.name,
});

/** Of a series that was missing and returns, compared with its last value; null: it does not return. */
export function returnOf(series: CumulativeSeries, scrape: number, proofs: Proofs): Sighting | null {
  const last = lastValueBefore(series, scrape);
  if (last === null || !wasMissing(series, scrape) || !series.hasValueAt(scrape)) return null;
  const earlier = earlierOf(series, scrape);
  const step = fell(earlier, last, series, series.changeAt(scrape)) ? 'fell' : 'continued';
  return { step, counted: totalOf(earlier, last) > 0, stood: false, ...proofs, family: series.family.name };
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

/** How many pages back to search for one that a page continues. */
const PAGES_BACK = 500;
/** A jump between two servers shows in at least this many series. */
const SERIES_OF_A_JUMP = 200;

/** What a page shows of the cumulative series. */
export interface SeenPage {
  /** The good page before. */
  readonly before: number;
  readonly scrape: number;
  readonly seen: readonly SeenSeries[];
  /** Only on the newer page. */
  readonly appeared: readonly SeenSeries[];
  /** Were missing and returned with at least their old values. */
  readonly resumed: readonly CumulativeSeries[];
}

/**
 * Evidence that the pages of one address come from several servers that respond by turns, where no start time shows it: one
 * server's counts continue where its own last page left them, and not where the previous page did.
 */
export class AlternatingServers {
  readonly #isOk: (page: number) => boolean;
  /** Series that were missing from a page and returned with at least their old values. */
  readonly #resumed = new Set<CumulativeSeries>();
  /** Series that decreased alone in a living process: their totals before, and the page on which they decreased. */
  readonly #lostAlive = new Map<CumulativeSeries, { readonly total: number; readonly scrape: number }>();
  /** Pages on which missing series continued from their values while the others did not. */
  #swaps = 0;
  /** Whether counts have returned to where an older page had left them. */
  #suspected = false;
  /** The pages between which counts last fell. */
  #lastFall: { readonly before: number; readonly scrape: number } | null = null;

  /** `isOk`: whether there is a page of that number. */
  constructor(isOk: (page: number) => boolean) {
    this.#isOk = isOk;
  }

  /** Whether a page may be that of another server than the page before, whatever its counts did. */
  mayAnswer(page: SeenPage): boolean {
    const { seen, resumed } = page;
    // Series continue while others decrease or vanish.
    const swaps =
      resumed.length > 0 && (seen.length === 0 || seen.some(({ sighting }) => sighting.step !== 'continued'));
    if (swaps) this.#swaps += 1;
    const may = this.#mayAlternate(page, swaps) || this.#resumesAgain(resumed, seen) || this.#vanishAgain(seen);
    for (const series of resumed) this.#resumed.add(series);
    return may;
  }

  /** Whether it is certain after a page on which a process without start times restarted; null: none did. */
  areCertain(fallen: readonly CumulativeSeries[] | null, before: number, scrape: number): boolean {
    const alternates = fallen !== null && this.#countsAlternate(fallen, before, scrape);
    return this.#swaps >= 2 || alternates;
  }

  /**
   * Whether the decreased series exceed the values of an older page. A restarted process counts from 0 and is normally
   * below all of them; one of several alternating servers continues from its own last page. Once that is suspected, or where
   * missing series return with their old values, the values may have come in many steps: the servers count while they are
   * not seen.
   */
  resumesOlderPage(series: readonly CumulativeSeries[], { before, scrape, resumed }: SeenPage): boolean {
    const isResumed = (page: number): boolean => passed(series, page, scrape);
    const resumes =
      this.#suspected || resumed.length > 0
        ? this.#newestPage(before, isResumed) !== null
        : this.#returnsToOlderPage(series, before, scrape, isResumed);
    this.#suspected ||= resumes;
    return resumes;
  }

  /** Whether a series that decreased in a living process is back above its old value, most of the way in one step. */
  regained(before: number, scrape: number): boolean {
    return Array.from(this.#lostAlive).some(([series, lost]) => {
      const [last, now] = [totalAt(series, before), totalAt(series, scrape)];
      return last < lost.total && now >= lost.total && now - last >= (now - totalAt(series, lost.scrape)) / 2;
    });
  }

  /**
   * Whether a page of a living process, by its start time, may be that of a server that started at the same time: a
   * part of its series decreased to where an older page left them, or is back at once above what it had lost, or series
   * return while others are missing, or vanish again after they had returned. The process may also have reset or omitted
   * them itself.
   */
  #mayAlternate({ before, scrape, seen, appeared }: SeenPage, swaps: boolean): boolean {
    for (const { series, sighting } of seen) if (sighting.proof === 'renewed') this.#lostAlive.delete(series);
    const lives = ({ sighting }: SeenSeries): boolean => sighting.proof === 'same';
    if (!seen.some(lives) && !appeared.some(lives)) return false;
    if (this.regained(before, scrape)) {
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
  #resumesAgain(resumed: readonly CumulativeSeries[], seen: readonly SeenSeries[]): boolean {
    if (!resumed.some((series) => this.#resumed.has(series))) return false;
    const missed = resumed.map((series) => ({ ...appearance(series, UNPROVEN), step: 'vanished' as const }));
    return mayBeOfAnother([...missed, ...seen.map(({ sighting }) => sighting)]);
  }

  /** Whether a page lacks all that was counted, and what had returned with at least its old values is among it. */
  #vanishAgain(seen: readonly SeenSeries[]): boolean {
    const counted = seen.filter(({ sighting }) => sighting.counted);
    return (
      counted.some(({ series }) => this.#resumed.has(series)) &&
      counted.every(({ sighting }) => sighting.step === 'vanished' && sighting.proof !== 'renewed')
    );
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
      if (this.#isOk(page) && isResumed(page)) return page;
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
      if (!this.#isOk(page)) continue;
      const total = totalOn(page);
      largest = Math.max(largest, total - last);
      last = total;
    }
    return largest >= (last - totalOn(scrape)) / 2;
  }
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
