/** A long run is looked at at so many moments. */
const MAX_MOMENTS = 5000;

/** How many requests a classic histogram of a run counted between its scrapes. */
export function classicCountQuery(family: string, runId: string, rangeSeconds: number): string {
  const counter = `${family}_count{run_id=${JSON.stringify(runId)}}[${rangeSeconds}s]`;
  return `sum(max_over_time(${counter}) - min_over_time(${counter}))`;
}

/** In how many series a run is stored as a native histogram. */
export function nativeSeriesQuery(family: string, runId: string, rangeSeconds: number): string {
  return `count(last_over_time(${family}{run_id=${JSON.stringify(runId)}}[${rangeSeconds}s]))`;
}

/** The count of a run that is stored as a native histogram, at least in part of the time. */
export function eitherCountQuery(family: string, runId: string, rangeSeconds: number): string {
  const run = `{run_id=${JSON.stringify(runId)}}`;
  const count = `max by (job, instance) (${family}_count${run} or histogram_count(${family}${run}))`;
  const moments = `(${count})[${rangeSeconds}s:${Math.ceil(rangeSeconds / MAX_MOMENTS)}s]`;
  return `sum(max_over_time(${moments}) - min_over_time(${moments}))`;
}

/**
 * PromQL for the raw counters of a histogram in either kind: its classic buckets and, where there are none, the native
 * histogram. `matchers` are those between the braces. Only of selectors and set operators, so that it is valid also where
 * native histograms are unknown; requires at least one matcher.
 */
export function rawHistogram(family: string, matchers: string): string {
  const total = `${family}_bucket{${matchers},le="+Inf"}`;
  return `${family}_bucket{${matchers}} or ${family}{${matchers}} unless ignoring (le) ${total}`;
}

/**
 * A query for the histograms that Prometheus stores without buckets as series: one series per histogram and job, with
 * the labels `family` and `job`. They are native histograms, from a scrape or converted, and the classic ones beside them
 * are missing.
 */
export function nativeOnlyQuery(names: readonly string[]): string {
  const any = names.join('|');
  return `count by (family, job) (${named(`(${any})`)}) unless count by (family, job) (${named(`(${any})_bucket`)})`;
}

/** Series with these names; only native histograms have the name without a suffix. */
const named = (pattern: string): string =>
  `label_replace({__name__=~"${pattern}"}, "family", "$1", "__name__", "${pattern}")`;
