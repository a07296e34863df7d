/**
 * PromQL for the raw counters of a histogram in either kind: its classic buckets and, where there are none, the native
 * histogram. `matchers` are those between the braces. Only of selectors and set operators, so that it is valid also where
 * native histograms are unknown; requires at least one matcher.
 */
export function rawHistogram(family: string, matchers: string): string {
  const total = `${family}_bucket{${matchers},le="+Inf"}`;
  return `${family}_bucket{${matchers}} or ${family}{${matchers}} unless ignoring (le) ${total}`;
}
