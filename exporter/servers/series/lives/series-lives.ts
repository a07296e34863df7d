import type { Labels } from '../../../../core/exposition/index.ts';
import { judgeLives, mayHaveContinued, type Life } from '../../../../core/series/lives.ts';
import type { Sighting, StartProof } from '../../../../core/series/sighting.ts';
import type { StartTimePlace } from '../page-series.ts';
import { isCumulative, ScalarSeries, type FamilyFacts, type Series } from '../series.ts';
import {
  AlternatingServers,
  appearance,
  returnOf,
  sightingOf,
  type SeenPage,
  type SeenSeries,
} from './alternating-servers.ts';
import {
  earlierOf,
  fellWhileAbsent,
  lastValueBefore,
  resumesItsValue,
  startedSinceLastValue,
  startedWhileAbsent,
  totalAt,
  wasMissing,
  type CumulativeSeries,
} from './cumulative-values.ts';
import { StartProofs } from './start-proofs.ts';

/** The part of a store needed to track restarts of its series. */
interface Pages {
  readonly series: readonly Series[];
  isOk(scrape: number): boolean;
  scalarOf(name: string, labels: Labels): ScalarSeries | null;
}

/** A series that the previous page lacks. */
interface Absent {
  readonly series: CumulativeSeries;
  readonly proof: StartProof;
  /** Null: the page lacks it too, or it is new. */
  readonly sighting: Sighting | null;
}

interface SeenSince {
  readonly page: SeenPage;
  readonly returned: boolean;
  readonly unknown: readonly CumulativeSeries[];
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
  readonly #proofs = new StartProofs();
  readonly #servers: AlternatingServers;
  /** The first page that lacked the series whose return revealed the last restart. */
  #absenceOfRestart: number | null = null;
  /** The last page that shows a restart of a process with series of other processes on its page. */
  #pageRestartedAt = -1;

  constructor(pages: Pages) {
    this.#pages = pages;
    this.#servers = new AlternatingServers((page) => pages.isOk(page));
  }

  get startTimes(): ReadonlyMap<string, number> {
    return this.#proofs.startTimes;
  }

  /** The start time of the series itself, in Unix seconds; NaN: not known. */
  startOf(family: FamilyFacts, labels: Labels): number {
    return this.#proofs.startOf(family, labels);
  }

  /** Whether a page lacks the start time of a process that an earlier one had. */
  lacksProcessStart(places: readonly StartTimePlace[]): boolean {
    return this.#proofs.lacksProcessStart(places);
  }

  /** False: the start times show that several servers answer. */
  seeStartTimes(
    places: readonly StartTimePlace[],
    values: Float64Array,
    times: { readonly sent_ns: number; readonly at_ns: number },
  ): boolean {
    const isOne = this.#proofs.see(places, values, times);
    if (!isOne) this.severalServers = 'the start time of the process went back';
    return isOne;
  }

  /**
   * Compares a page with the good one before. `changed`: a number decreased, or a series vanished or returned;
   * otherwise only start times can reveal a restart. False: several servers answer.
   */
  judge(before: number, scrape: number, places: readonly StartTimePlace[], changed: boolean): boolean {
    if (!changed && !this.#proofs.anyRenewed && !this.#servers.regained(before, scrape)) return true;
    const { page, returned, unknown } = this.#see(before, scrape, places);
    const { seen, appeared } = page;
    const { lives, restarted, pageRestarted, unclear } = judgeLives(
      [...seen, ...appeared].map(({ sighting }) => sighting),
    );
    if (pageRestarted) this.#pageRestartedAt = scrape;
    const fallen = restarted || unclear ? fallenWithoutProof(seen, lives) : null;
    const ofAnother = this.#servers.mayAnswer(page);
    const isOlder = fallen !== null && this.#servers.resumesOlderPage(fallen, page);
    const doubtful = new Set(isOlder ? fallen : []);
    markSeries(page, lives, ofAnother, doubtful);
    if (unclear) doubtReturns(page);
    if (restarted || unclear || this.#proofs.anyRenewed) for (const series of unknown) series.unclearAt.push(scrape);
    if (places.length > 0) doubtBirths(seen);
    this.#followSums(scrape, restarted);
    const isUnclear = unclear || page.appeared.some(({ series }) => series.unclearAt.at(-1) === scrape);
    if (isUnclear || ofAnother || doubtful.size > 0) this.unclear.push(scrape);
    else if (restarted || returned) this.restarts.push(scrape);
    if (!this.#servers.areCertain(fallen, before, scrape)) return true;
    this.severalServers = 'its counts alternate between those of several processes';
    return false;
  }

  /**
   * `returned`: a series that was missing is back, or one without a number has a new start time, and reveals a restart. `unknown`: series without a number on the page, and
   * without a start time.
   */
  #see(before: number, scrape: number, places: readonly StartTimePlace[]): SeenSince {
    const proofsOf = this.#proofs.of(places);
    const resumed: CumulativeSeries[] = [];
    const seen: SeenSeries[] = [];
    const appeared: SeenSeries[] = [];
    const absent: Absent[] = [];
    const unknown: CumulativeSeries[] = [];
    let renewed = false;
    for (const series of this.#pages.series) {
      if (!isCumulative(series)) continue;
      const proofs = proofsOf(series);
      const sighting = isSum(series) ? null : sightingOf(series, before, scrape, proofs);
      if (sighting !== null) seen.push({ series, sighting });
      else if (!series.hasValueAt(before)) {
        // Its own start time decides, whatever was assumed while it was missing.
        if (places.length > 0 && proofs.isOwnProof && proofs.proof === 'same') forgetAbsence(series, scrape);
        absent.push({ series, proof: proofs.proof, sighting: returnOf(series, scrape, proofs) });
        if (proofs.proof !== 'renewed' && resumesItsValue(series, scrape)) resumed.push(series);
        if (series.hasValueAt(scrape) && !isSum(series))
          appeared.push({ series, sighting: appearance(series, proofs) });
      } else if (series.isUnknownAt(scrape) && proofs.proof === 'renewed') {
        series.anewAt.push(scrape);
        renewed = true;
      }
      if (series.isUnknownAt(scrape) && proofs.proof === null) unknown.push(series);
    }
    const returned = this.#judgeAbsent(absent, seen, scrape) || renewed;
    return { page: { before, scrape, seen, appeared, resumed }, returned, unknown };
  }

  /** True: a series that returns reveals a restart that was not known. */
  #judgeAbsent(absent: readonly Absent[], seen: readonly SeenSeries[], scrape: number): boolean {
    const returning = absent.filter(({ sighting }) => sighting !== null && !sighting.isOwnProof);
    const vanishedAt = Math.min(...returning.map(({ series }) => series.absentSince(scrape - 1) ?? Infinity));
    const doubted = mayHaveContinued(
      returning.flatMap(({ sighting }) => sighting ?? []),
      seen.map(({ series, sighting }) => (series.bornAt < vanishedAt ? sighting : { ...sighting, step: 'appeared' })),
    );
    let returned = false;
    for (const { series, proof, sighting } of absent) {
      const mayBeOfPage =
        sighting?.process !== '' && this.#pageRestartedAt >= (series.absentSince(scrape - 1) ?? Infinity);
      if (sighting !== null && (doubted.has(sighting) || (mayBeOfPage && mayContinue(sighting))))
        series.unclearAt.push(scrape);
      else returned = this.#beginsAnew(series, scrape, proof) || returned;
    }
    return returned;
  }

  /**
   * A series that is missing from a good page and returns belongs to a new process, unless a start time proves
   * otherwise. True: it reveals a restart that was not known.
   */
  #beginsAnew(series: CumulativeSeries, scrape: number, proof: StartProof): boolean {
    const returns = series.hasValueAt(scrape) && lastValueBefore(series, scrape) !== null;
    const earlier = earlierOf(series, scrape);
    // Its predecessor with another grid belonged to a process that has restarted since.
    if (returns && earlier !== series && startedSinceLastValue(earlier)) {
      series.anewAt.push(scrape);
      return false;
    }
    // A process also removes single series, which it counts from 0 when it needs them again.
    const returnsAnew = returns && wasMissing(series, scrape) && (proof === null || fellWhileAbsent(series, scrape));
    if (proof !== 'renewed' && !returnsAnew) return false;
    // A restart since its last value is marked already.
    if (!returns && startedSinceLastValue(series)) return false;
    if (returns && startedWhileAbsent(series, scrape)) return false;
    series.anewAt.push(scrape);
    if (proof === 'same') return false;
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
}

/** The series that count anew without a start time that proves it; null: none of those that count anew decreased. */
function fallenWithoutProof(seen: readonly SeenSeries[], lives: readonly Life[]): CumulativeSeries[] | null {
  const anew = seen.filter((_, i) => lives[i] === 'anew');
  if (!anew.some(({ sighting }) => sighting.step === 'fell')) return null;
  return anew.filter(({ sighting }) => sighting.proof === null).map(({ series }) => series);
}

/** Marks at each series what the page means for it; `doubtful`: those that may continue an older page. */
function markSeries(
  { scrape, seen, appeared }: SeenPage,
  lives: readonly Life[],
  ofAnother: boolean,
  doubtful: ReadonlySet<CumulativeSeries>,
): void {
  const doubtfulProcesses = new Set(
    seen.filter(({ series }) => doubtful.has(series)).map(({ sighting }) => sighting.process),
  );
  for (const [i, { series, sighting }] of seen.entries()) {
    const ofOther = ofAnother && sighting.proof !== 'renewed';
    // A series at 0 is also on the page of another server, which counts it from elsewhere.
    const wasZero = !sighting.counted && doubtfulProcesses.has(sighting.process) && totalAt(series, scrape) > 0;
    if (lives[i] === 'unclear' || doubtful.has(series) || ofOther || wasZero) series.unclearAt.push(scrape);
    else if (lives[i] === 'anew') series.anewAt.push(scrape);
  }
  for (const [i, { series, sighting }] of appeared.entries()) {
    const ofOther = ofAnother || doubtfulProcesses.has(sighting.process);
    if (ofOther || lives[seen.length + i] === 'unclear') series.unclearAt.push(scrape);
  }
}

/** Where it is undecided whether the process restarted, a series that returns with its old value may have continued. */
function doubtReturns({ scrape, resumed }: SeenPage): void {
  for (const series of resumed) {
    const isMarked = series.unclearAt.at(-1) === scrape;
    if (series.anewAt.at(-1) === scrape && !isMarked) series.unclearAt.push(scrape);
  }
}

/**
 * A page that lacks most of what was counted, under the start time of a living process, may be that of another server that
 * started at the same time: what appeared before was then not counted from 0. A single series may be left out.
 */
function doubtBirths(seen: readonly SeenSeries[]): void {
  const counted = seen.filter(({ sighting }) => sighting.counted && sighting.proof === 'same');
  const vanished = counted.filter(({ sighting }) => sighting.step === 'vanished');
  if (vanished.length < 2 || vanished.length <= counted.length / 2) return;
  for (const { series } of vanished) if (series.startsAtZero) series.unclearAt.push(series.bornAt);
}

/** Whether a series that returns has at least its old value, above 0, without a start time of its own. */
const mayContinue = ({ step, counted, isOwnProof }: Sighting): boolean =>
  step === 'continued' && counted && !isOwnProof;

function forgetAbsence(series: CumulativeSeries, scrape: number): void {
  const absentSince = earlierOf(series, scrape).absentSince(scrape - 1) ?? Infinity;
  while ((series.anewAt.at(-1) ?? -1) >= absentSince) series.anewAt.pop();
}

const isSum = (series: Series): boolean => series instanceof ScalarSeries && series.isSum;
