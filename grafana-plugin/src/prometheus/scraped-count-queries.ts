const FAMILY = 'llmbench_time_to_first_token_seconds';

/** A long run is looked at at so many moments. */
const MAX_MOMENTS = 5000;

/** How many requests the classic histogram of a run counted between its scrapes. */
export function classicCountQuery(runId: string, rangeSeconds: number): string {
  const counter = `${FAMILY}_count{run_id=${JSON.stringify(runId)}}[${rangeSeconds}s]`;
  return `sum(max_over_time(${counter}) - min_over_time(${counter}))`;
}

/** In how many series a run is stored as a native histogram. */
export function nativeSeriesQuery(runId: string, rangeSeconds: number): string {
  return `count(last_over_time(${FAMILY}{run_id=${JSON.stringify(runId)}}[${rangeSeconds}s]))`;
}

/** The count of a run that is stored as a native histogram, at least in part of the time. */
export function eitherCountQuery(runId: string, rangeSeconds: number): string {
  const run = `{run_id=${JSON.stringify(runId)}}`;
  const count = `max by (job, instance) (${FAMILY}_count${run} or histogram_count(${FAMILY}${run}))`;
  const moments = `(${count})[${rangeSeconds}s:${Math.ceil(rangeSeconds / MAX_MOMENTS)}s]`;
  return `sum(max_over_time(${moments}) - min_over_time(${moments}))`;
}
