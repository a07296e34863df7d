const BUCKETS = /^([\w:]+)_bucket\{(.+)\}$/;

/**
 * The raw counters of a histogram in either kind: the selector of its classic buckets and, where these select nothing, the
 * native histogram. Only of selectors and set operators, so that it is valid also where native histograms are unknown.
 * Throws an error if `buckets` is anything but a selector with matchers.
 */
export function eitherKind(buckets: string): string {
  const [, family = '', matchers = ''] = BUCKETS.exec(buckets) ?? [];
  if (family === '') throw new Error(`not a selector of buckets: ${buckets}`);
  return `${buckets} or ${family}{${matchers}} unless ignoring (le) ${family}_bucket{${matchers},le="+Inf"}`;
}
