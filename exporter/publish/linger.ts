/** How long a scraper that came once is waited for: Prometheus' default `scrape_interval` of a minute, and a quarter. */
const PATIENCE_AFTER_FIRST_SECONDS = 75;
/** A scraper that is this many of its intervals late has stopped coming. */
const LATE_INTERVALS = 2.5;
/** No scraper counts as gone sooner than this: scrapes of very short intervals jitter. */
const LEAST_PATIENCE_SECONDS = 2;
/** The interval is the longest of this many last gaps, so that two scrapers behind one address look slow, not gone. */
const GAPS_KEPT = 5;
const FINAL_FETCHES = 2;
/**
 * How long a client that requested the running runs has to scrape this one: Prometheus' own 5 s between discovery and
 * scrape, the 5 s between our discoveries, and some for the scrape.
 */
const DISCOVERY_SECONDS = 15;

export const DEFAULT_LINGER_MAX_SECONDS = 180;

export type LingerDecision =
  /** Ask again at `recheck_seconds`, or after a scrape. */
  | { readonly done: false; readonly recheck_seconds: number }
  | {
      readonly done: true;
      readonly reason: 'nobody_scraped' | 'all_fetched' | 'scrapers_gone' | 'limit';
      /** One line for the user; null when all went well. */
      readonly line: string | null;
    };

interface Scraper {
  last_seconds: number;
  readonly gaps: number[];
  finalFetches: number;
}

/**
 * Decides how long a run that has ended keeps serving its metrics (`--linger auto`): not at all when nothing scraped it,
 * else until every scraper that was seen has fetched the final values twice or has stopped coming, at most
 * `maxSeconds`. Pure: the caller reports the time, in seconds on any clock that does not jump.
 */
export class Linger {
  readonly #maxSeconds: number;
  readonly #scrapers = new Map<string, Scraper>();
  #finished_seconds: number | null = null;
  #discovered = false;

  constructor(maxSeconds: number = DEFAULT_LINGER_MAX_SECONDS) {
    this.#maxSeconds = maxSeconds;
  }

  /** A scrape that came from `remoteAddress` has been answered. */
  scraped(remoteAddress: string, now_seconds: number): void {
    let scraper = this.#scrapers.get(remoteAddress);
    if (scraper === undefined) {
      scraper = { last_seconds: now_seconds, gaps: [], finalFetches: 0 };
      this.#scrapers.set(remoteAddress, scraper);
    } else {
      scraper.gaps.push(now_seconds - scraper.last_seconds);
      if (scraper.gaps.length > GAPS_KEPT) scraper.gaps.shift();
      scraper.last_seconds = now_seconds;
    }
    if (this.#finished_seconds !== null) scraper.finalFetches += 1;
  }

  /**
   * From now on the metrics have their final values: only later scrapes have fetched them. `discovered`: a client
   * is known to ask for the running runs, so a run too short to have been found yet waits for the first scrape.
   */
  finished(now_seconds: number, discovered = false): void {
    this.#finished_seconds ??= now_seconds;
    this.#discovered = discovered;
  }

  /** Throws an `Error` when the run has not finished. */
  decide(now_seconds: number): LingerDecision {
    if (this.#finished_seconds === null) throw new Error('the run has not finished');
    if (this.#scrapers.size === 0) return this.#withoutScrapers(now_seconds, this.#finished_seconds);

    const unsatisfied = [...this.#scrapers].filter(([, { finalFetches }]) => finalFetches < FINAL_FETCHES);
    if (unsatisfied.length === 0) return { done: true, reason: 'all_fetched', line: null };

    const awaited = unsatisfied.filter(([, scraper]) => goneAt_seconds(scraper) > now_seconds);
    const names = unsatisfied.map(([remoteAddress]) => remoteAddress).join(', ');
    if (awaited.length === 0) {
      return {
        done: true,
        reason: 'scrapers_gone',
        line: `${names} scraped this run and stopped before it had the final values twice: Prometheus may lack the end of the run`,
      };
    }
    const limit_seconds = this.#finished_seconds + this.#maxSeconds;
    if (now_seconds >= limit_seconds) {
      return {
        done: true,
        reason: 'limit',
        line: `${names} had not fetched the final values twice within ${this.#maxSeconds} s: Prometheus may lack the end of the run; scrape more often or raise --linger-max`,
      };
    }
    const gone = awaited.map(([, scraper]) => goneAt_seconds(scraper));
    return { done: false, recheck_seconds: Math.min(limit_seconds, ...gone) };
  }

  #withoutScrapers(now_seconds: number, finished_seconds: number): LingerDecision {
    const patience = Math.min(DISCOVERY_SECONDS, this.#maxSeconds);
    const recheck_seconds = finished_seconds + patience;
    if (this.#discovered && now_seconds < recheck_seconds) return { done: false, recheck_seconds };
    return { done: true, reason: 'nobody_scraped', line: NOBODY_SCRAPED };
  }
}

const NOBODY_SCRAPED =
  'nothing scraped /metrics while this run lasted, so Prometheus does not have it: run `llmbench serve` on the same runs directory and let Prometheus discover running runs from its /sd';

function goneAt_seconds({ last_seconds, gaps }: Scraper): number {
  if (gaps.length === 0) return last_seconds + PATIENCE_AFTER_FIRST_SECONDS;
  return last_seconds + Math.max(LATE_INTERVALS * Math.max(...gaps), LEAST_PATIENCE_SECONDS);
}
