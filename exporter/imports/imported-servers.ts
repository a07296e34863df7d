import type { ServersResult } from '../../core/run/result.ts';
import type { ClientRequests } from '../servers/request-counts.ts';
import type { ServersFile } from '../servers/servers-file.ts';

/** The servers' side of an imported run. */
export interface ImportedServers {
  /** Asked when the run's records have been read; null: nothing can be said of this run's time. */
  forRun(measured: MeasuredRequests): ServersOfRun | null;
}

/** What the client's records say that the servers' side is seen through. */
export interface MeasuredRequests {
  /** Ns since the run's start: the first request sent, the end of the last; null without records. */
  readonly window: { readonly start_ns: number; readonly end_ns: number } | null;
  readonly requests: ClientRequests;
}

/** In the form of our own files. */
export interface ServersOfRun {
  /** `servers` of result.json. */
  readonly result: ServersResult;
  /** `servers.json`. */
  readonly file: (runId: string) => ServersFile;
  /** Writes `servers.parquet`; null when the files hold no samples. */
  readonly writeSamples: ((path: string) => Promise<void>) | null;
}
