import { extname } from 'node:path';
import { WorkerLoad } from '../bench/workers/worker-load.ts';
import type { RunRequest } from './run-request.ts';

/** Starts workers for a run; each reads for itself what the request names. */
export function beginWorkers(request: RunRequest, workers: number): WorkerLoad {
  // The entry is a source in a checkout and compiled in a package: it has the extension of this file.
  const entry = new URL(`./load-worker${extname(import.meta.url)}`, import.meta.url);
  return new WorkerLoad(entry, { ...request, serverMetrics: null, gates: null } satisfies RunRequest, workers);
}
