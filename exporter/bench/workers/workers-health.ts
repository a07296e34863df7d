import { EventLoopDelays } from '../event-loop-delays.ts';
import { MeasuredClient } from '../measured-client.ts';
import type { RunObserver } from '../observer.ts';

/**
 * Watches a load that several threads make: each tells how late its event loop was, the CPU time is that of the whole
 * process, and all are judged by the inter-token latency of all requests.
 */
export class WorkersHealth extends MeasuredClient {
  readonly #delays: readonly EventLoopDelays[];

  /** The observers are told of a changed verdict. */
  constructor(workers: number, observers: readonly RunObserver[]) {
    super(observers);
    this.#delays = Array.from({ length: workers }, () => new EventLoopDelays());
  }

  /** Hears what one worker tells of itself. */
  ofWorker(worker: number): RunObserver {
    const delays = this.#delays[worker];
    return delays === undefined ? {} : { eventLoopDelay: (delay_ns) => this.sampled(delays, delay_ns) };
  }

  protected override get loops(): readonly EventLoopDelays[] {
    return this.#delays;
  }
}
