/** The program of a worker thread, with the compile cache of the leading thread. */
import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';
import type { WorkerStart } from '../load/workers/messages.ts';

const { compileCache } = workerData as WorkerStart;
if (compileCache !== null) enableCompileCache(compileCache);
const { beginWorker } = await import('./load-worker-program.ts');
beginWorker();
