import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerRun, WorkerStart } from '../load/workers/messages.ts';
import { serveLoad, type LoadSource } from '../load/workers/serve-load.ts';
import { plannedBenchmark, plannedLoad } from './planned-load.ts';
import { prepareTraffic } from './prepared-traffic.ts';
import type { RunRequest } from './run-request.ts';

/**
 * Serves the thread that started this one: makes the plan from the same request, and generates its share of the load.
 */
export function beginWorker(): void {
  if (parentPort === null) throw new Error('this program runs only as a worker thread');
  const start = workerData as WorkerStart<RunRequest>;
  const request = start.setup;
  // While the leading thread still sends the probe.
  const preparing = prepareTraffic(request, process.env);

  async function source({ includeUsage, lengthField }: WorkerRun): Promise<LoadSource> {
    const { form: given, transport, secrets } = await preparing;
    const planned = plannedLoad(request, given.dataset);
    const accepted = { includeUsage, ...(lengthField === undefined ? {} : { lengthField }) };
    const form = { ...given, dataset: planned.dataset, options: { ...given.options, ...accepted } };
    return { plan: plannedBenchmark(request, { form, secrets }, planned, null), transport };
  }

  serveLoad(parentPort, start, source);
}
