/** What a person asked for: the whole of a run, before anything is known of the server. */
export interface RunRequest {
  readonly url: string;
  readonly model: string;
  readonly scenario: string;
  readonly concurrency: number;
  readonly requestCount: number | null;
  readonly durationSeconds: number | null;
  readonly gracePeriodSeconds: number;
  readonly warmupRequestCount: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seed: number;
  readonly sampling: Readonly<Record<string, number | string | boolean | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly apiKey: string | null;
  readonly requestTimeoutSeconds: number;
  readonly failedRequestThreshold: number | null;
  readonly runsDirectory: string;
  /** null: made from the time of the start. */
  readonly runId: string | null;
  /** null: only when a `serve` watches the runs directory; 0: any free port. */
  readonly metricsPort: number | null;
  readonly metricsHost: string;
  readonly lingerMaxSeconds: number | null;
}
