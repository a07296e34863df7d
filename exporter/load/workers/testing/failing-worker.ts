/** The program of a worker for tests; the last one of the workers throws when it has sent so many requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { RawTransport } from '../../transports/raw/raw-transport.ts';
import { benchmarkPlan } from '../../testing/benchmark-run.ts';
import type { Transport } from '../../transports/transport.ts';
import type { WorkerStart } from '../messages.ts';
import { serveLoad } from '../serve-load.ts';

export interface FailingSetup {
  readonly origin: string;
  readonly requestCount: number;
  readonly failsAfter: number;
}

if (parentPort === null) throw new Error('this program runs only as a worker thread');
const start = workerData as WorkerStart<FailingSetup>;
const { origin, requestCount, failsAfter } = start.setup;
const transport = new RawTransport({ origin });
const isLast = start.worker.part === start.worker.parts - 1;
let sent = 0;
const failing: Transport = {
  send(request, handler) {
    if (isLast && ++sent > failsAfter) throw new Error('it fails on purpose');
    return transport.send(request, handler);
  },
  close: () => transport.close(),
};
serveLoad(parentPort, start, async () => ({ plan: benchmarkPlan({ requestCount }), transport: failing }));
