import type { ServersResult } from '../../core/run/result.ts';
import type { ClientRequests } from '../servers/summary/request-counts.ts';
import type { ServersFile } from '../../core/run/servers-file.ts';

/** The servers' side of an imported run. */
export interface ImportedServers {
  /** Called when the run's records have been read; null: the time of this run is unknown. */
  forRun(measured: MeasuredRequests): ServersOfRun | null;
}

/** The facts from the client's records by which the servers' side is read. */
export interface MeasuredRequests {
  /** Ns since the run's start: the first request sent, the end of the last; null without records. */
  readonly window: { readonly start_ns: number; readonly end_ns: number } | null;
  readonly requests: ClientRequests;
  /** How many ok requests of the warm-up ended after this moment, ns since the run's start. */
  readonly warmupAfter: (at_ns: number) => number;
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
