/** A metric as its source defines it; null is what the text alone does not say. */
export interface Definition {
  /** As it is on the page, but for the `_total` that some clients append to counters. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary' | 'info' | null;
  readonly labels: readonly string[] | null;
  readonly bounds: readonly number[] | null;
  /** File and line. */
  readonly at: string;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}
