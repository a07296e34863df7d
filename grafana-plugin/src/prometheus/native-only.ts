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
