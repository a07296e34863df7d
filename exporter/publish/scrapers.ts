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
