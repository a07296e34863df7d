/** Servers and runs that are scraped at this interval or more often have a rate at every evaluation of the rules. */
export const MAX_SCRAPE_INTERVAL_SECONDS = 60;
