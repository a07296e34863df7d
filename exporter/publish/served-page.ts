import type { RunOutput } from '../../core/run/run-output.ts';
import type { LiveSource } from './live-runs-page.ts';

/** Serves the live metrics of a run over HTTP. Throws a `ListenError` when the port is not available. */
export type ServePage = (live: LiveSource, options: ServedPageOptions) => Promise<ServedPage>;

export interface ServedPageOptions {
  readonly runId: string;
  readonly scenario: string;
  /** A `serve` process may list the runs of this directory. */
  readonly runsDirectory: string;
  readonly version: string;
  readonly host: string;
  /** Further host names that requests may be addressed to; see `AllowedHostOptions`. */
  readonly allowedHosts: readonly string[];
  /** 0: any free port. */
  readonly port: number;
  /** Null: `Linger` decides, with its default limit; 0: no wait, the page ends with the run. */
  readonly lingerMaxSeconds: number | null;
  readonly say: (line: string) => void;
}

export interface ServedPage extends RunOutput {
  readonly metricsUrl: string;
  /**
   * Waits until a scraper has fetched this run that many times; false: none has within the limit. If nothing came to the page
   * within a limit before, there is no wait.
   */
  scraped(times: number, limit_seconds: number, givenUp: AbortSignal): Promise<boolean>;
}
