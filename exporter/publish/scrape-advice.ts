import { MAX_SCRAPE_INTERVAL_SECONDS } from '../../core/run/scrape-interval.ts';

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
