/** A service level objective: this share of the values is at most this long. */
export interface LatencyObjective {
  readonly measure: 'time_to_first_token' | 'inter_token_latency';
  readonly limitSeconds: number;
  /** From 0 to 1. */
  readonly share: number;
}

/** The objectives of the alerts, and those with which dashboards open; a copy of `rules/objectives.yml` may set others. */
export const OBJECTIVES: readonly LatencyObjective[] = [
  { measure: 'time_to_first_token', limitSeconds: 0.5, share: 0.99 },
  { measure: 'inter_token_latency', limitSeconds: 0.05, share: 0.99 },
];

/** Servers and runs that are scraped at this interval or more often have a rate at every evaluation of the rules. */
export const MAX_SCRAPE_INTERVAL_SECONDS = 60;
