import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerRun, WorkerStart } from '../bench/workers/messages.ts';
import { serveLoad, type LoadSource } from '../bench/workers/serve-load.ts';
import { plannedBenchmark } from './planned-benchmark.ts';
import { plannedLoad } from './planned-load.ts';
import { prepareTraffic } from './prepared-traffic.ts';
import type { RunRequest } from './run-request.ts';

/** Serves the thread that started this one: makes the plan from the same request as that one, and its share of it. */
export function beginWorker(): void {
  if (parentPort === null) throw new Error('this is the program of a worker thread');
  const start = workerData as WorkerStart<RunRequest>;
  const request = start.setup;
  // While the leading thread still asks the server.
  const preparing = prepareTraffic(request, process.env);

  async function source({ includeUsage }: WorkerRun): Promise<LoadSource> {
    const { form: given, transport, secrets } = await preparing;
    const planned = plannedLoad(request, given.dataset);
    const form = { ...given, dataset: planned.dataset, options: { ...given.options, includeUsage } };
    return { plan: plannedBenchmark(request, { form, planned, secrets, measureStart_ns: null }), transport };
  }

  serveLoad(parentPort, start, source);
}
