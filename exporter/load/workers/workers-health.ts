import { EventLoopDelays } from '../client/event-loop-delays.ts';
import { MeasuredClient } from '../client/measured-client.ts';
import type { RunObserver } from '../../../core/run/run-observer.ts';

/**
 * Monitors a load that several threads generate: each reports the delays of its event loop, the CPU time is that of the
 * whole process, and all are compared with the inter-token latency of all requests.
 */
export class WorkersHealth extends MeasuredClient {
  readonly #delays: readonly EventLoopDelays[];

  /** The observers are notified when the verdict changes. */
  constructor(workers: number, observers: readonly RunObserver[]) {
    super(observers);
    this.#delays = Array.from({ length: workers }, () => new EventLoopDelays());
  }

  /** Processes a report of one worker about itself. */
  ofWorker(worker: number): RunObserver {
    const delays = this.#delays[worker];
    return delays === undefined ? {} : { eventLoopDelay: (delay_ns) => this.sampled(delays, delay_ns) };
  }

  protected override get loops(): readonly EventLoopDelays[] {
    return this.#delays;
  }
}
