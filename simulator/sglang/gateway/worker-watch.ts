import type { Upstream } from './upstream.ts';
import type { WorkerMetrics } from './worker-metrics.ts';
import type { Worker } from './worker.ts';

const HEALTH_INTERVAL_MILLISECONDS = 2000;
/** Health checks from one look at a worker's load to the next. */
const CHECKS_PER_LOAD_POLL = 5;

/** Asks the workers for their health, and now and then for their load. */
export class WorkerWatch {
  readonly #timer: NodeJS.Timeout;
  #checks = 0;

  constructor(workers: readonly Worker[], upstream: Upstream, metrics: WorkerMetrics) {
    const look = (): void => {
      const pollsLoad = this.#checks++ % CHECKS_PER_LOAD_POLL === 0;
      for (const worker of workers) {
        void upstream.answersOk(`${worker.url}/health`).then((isGood) => {
          worker.checked(isGood);
          metrics.healthChecked(isGood);
        });
        if (pollsLoad) void upstream.answersOk(`${worker.url}/v1/loads`).then(() => metrics.loadPolled(worker));
      }
    };
    look();
    this.#timer = setInterval(look, HEALTH_INTERVAL_MILLISECONDS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
