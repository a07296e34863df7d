import { MAX_SCRAPE_INTERVAL_SECONDS } from '../../core/objectives/rule-settings.ts';

/** How long a scraper that came once is waited for: Prometheus' default `scrape_interval` of a minute, and a quarter. */
const PATIENCE_AFTER_FIRST_SECONDS = 75;
/** A scraper that is this many of its intervals late has stopped coming. */
const LATE_INTERVALS = 2.5;
/** No scraper counts as gone sooner than this: scrapes of very short intervals jitter. */
const MIN_PATIENCE_SECONDS = 2;
/** The interval is the longest of this many last gaps, so that two scrapers behind one address look slow, not gone. */
const GAPS_KEPT = 5;

interface Scraper {
  last_seconds: number;
  readonly gaps: number[];
}

/** The scrapers of a page, by address, and when each is expected again. Times are seconds of one clock. */
export class Scrapers {
  readonly #byAddress = new Map<string, Scraper>();

  /** A scrape that came from `remoteAddress` has been answered. */
  scraped(remoteAddress: string, now_seconds: number): void {
    const scraper = this.#byAddress.get(remoteAddress);
    if (scraper === undefined) {
      this.#byAddress.set(remoteAddress, { last_seconds: now_seconds, gaps: [] });
      return;
    }
    scraper.gaps.push(now_seconds - scraper.last_seconds);
    if (scraper.gaps.length > GAPS_KEPT) scraper.gaps.shift();
    scraper.last_seconds = now_seconds;
  }

  /** Addresses of the scrapers that are still coming. */
  present(now_seconds: number): readonly string[] {
    return [...this.#byAddress.keys()].filter((address) => this.goneAt_seconds(address) > now_seconds);
  }

  /** The scraper that comes least often, and the interval that was seen; null: none has come three times. */
  slowest(): { readonly address: string; readonly interval_seconds: number } | null {
    const seen = [...this.#byAddress]
      .filter(([, { gaps }]) => gaps.length > 1)
      .map(([address, { gaps }]) => ({
        address,
        interval_seconds: gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? 0,
      }));
    return seen.sort((a, b) => b.interval_seconds - a.interval_seconds)[0] ?? null;
  }

  /** When the scraper counts as one that has stopped coming, unless it comes before. Never seen: it is gone. */
  goneAt_seconds(remoteAddress: string): number {
    const scraper = this.#byAddress.get(remoteAddress);
    if (scraper === undefined) return -Infinity;
    const { last_seconds, gaps } = scraper;
    if (gaps.length === 0) return last_seconds + PATIENCE_AFTER_FIRST_SECONDS;
    return last_seconds + Math.max(LATE_INTERVALS * Math.max(...gaps), MIN_PATIENCE_SECONDS);
  }
}

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

/**
 * Decides how long a run that has ended keeps serving its metrics (`--linger auto`): not at all when nothing scraped it,
 * else until every scraper of its page has fetched the final values twice or has stopped coming, at most
 * `maxSeconds`. Pure: the caller reports the time, in seconds on any clock that does not jump.
 */
export class Linger {
  readonly #scrapers: Scrapers;
  readonly #maxSeconds: number;
  /** By address of the scraper. */
  readonly #finalFetches: Map<string, number>;
  #finished_seconds: number | null = null;
  #discovered = false;

  /** `scrapers`: those of the page; the ones that still come when the run begins are expected to fetch this run as well. */
  constructor(scrapers: Scrapers, begin_seconds: number, maxSeconds: number = DEFAULT_LINGER_MAX_SECONDS) {
    this.#scrapers = scrapers;
    this.#maxSeconds = maxSeconds;
    this.#finalFetches = new Map(scrapers.present(begin_seconds).map((address) => [address, 0]));
  }

  /** A page with this run has been sent to `remoteAddress`, which `scrapers` knows. */
  fetched(remoteAddress: string): void {
    const before = this.#finalFetches.get(remoteAddress) ?? 0;
    this.#finalFetches.set(remoteAddress, before + (this.#finished_seconds === null ? 0 : 1));
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
    if (this.#finalFetches.size === 0) return this.#withoutScrapers(now_seconds, this.#finished_seconds);

    const unsatisfied = [...this.#finalFetches].flatMap(([address, fetches]) =>
      fetches < FINAL_FETCHES ? [{ address, goneAt_seconds: this.#scrapers.goneAt_seconds(address) }] : [],
    );
    if (unsatisfied.length === 0) return { done: true, reason: 'all_fetched', line: null };

    const awaited = unsatisfied.filter(({ goneAt_seconds }) => goneAt_seconds > now_seconds);
    const names = unsatisfied.map(({ address }) => address).join(', ');
    if (awaited.length === 0) {
      return {
        done: true,
        reason: 'scrapers_gone',
        line: `${names} stopped scraping before it had the final values twice: Prometheus may lack the end of the run`,
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
    return {
      done: false,
      recheck_seconds: Math.min(limit_seconds, ...awaited.map(({ goneAt_seconds }) => goneAt_seconds)),
    };
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

/** A rate of Grafana is over four scrapes at least. */
const SCRAPES_OF_A_RATE = 4;
/** That of the shipped configuration: for a run that is too short for it there is no advice. */
const MIN_INTERVAL_SECONDS = 2;
/** Scrapes come late by a fraction of a second. */
const JITTER_SECONDS = 1;

/** What to change when a scraper came too seldom for what the dashboards or the rules show of a run; null: nothing. */
export function scrapeAdvice(scraper: string, interval_seconds: number, run_seconds: number): string | null {
  const seen = `${scraper} scrapes every ${Math.round(interval_seconds)} s`;
  if (interval_seconds > MAX_SCRAPE_INTERVAL_SECONDS + JITTER_SECONDS) {
    return `${seen}: the recording rules and alerts need a scrape every ${MAX_SCRAPE_INTERVAL_SECONDS} s or more often`;
  }
  if (interval_seconds <= MIN_INTERVAL_SECONDS + JITTER_SECONDS) return null;
  if (run_seconds >= SCRAPES_OF_A_RATE * interval_seconds) return null;
  return (
    `${seen}, and this run took ${Math.ceil(run_seconds)} s: lines over time need ${SCRAPES_OF_A_RATE} scrapes of a run ` +
    `(the shipped prometheus.yml scrapes every ${MIN_INTERVAL_SECONDS} s); its results are exact all the same`
  );
}
