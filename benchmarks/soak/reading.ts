/** What a watched process reports of itself. */
export interface Reading {
  /** Since its start. */
  readonly seconds: number;
  readonly rss_mb: number;
  /** The JavaScript heap and what it holds outside, garbage included. */
  readonly held_mb: number;
  readonly openFiles: number;
  /** Of the time since the reading before. */
  readonly delay_p99_ms: number;
  readonly delay_max_ms: number;
}
