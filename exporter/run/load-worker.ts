/** The program of a worker thread: its code is kept compiled where that of the leading thread is. */
import { enableCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';
import type { WorkerStart } from '../bench/workers/messages.ts';

const { compileCache } = workerData as WorkerStart;
if (compileCache !== null) enableCompileCache(compileCache);
const { beginWorker } = await import('./load-worker-program.ts');
beginWorker();
