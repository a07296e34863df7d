import type { EndedRun, ChildRun } from './run-process.ts';

/** A run that waits, is running or has ended. */
export interface QueuedRun {
  /** Resolves after the end of its process; with `NEVER_STARTED` if it was stopped while it waited. */
  readonly ended: Promise<EndedRun>;
  /** Ends it within this time. */
  stop(within_ms: number): void;
}

export interface QueueLimits {
  /** Runs at the same time. */
  readonly concurrent: number;
  /** Runs that wait. */
  readonly queue: number;
}

export const NEVER_STARTED: EndedRun = { exitCode: null, output: null, message: 'stopped before it began' };

interface Waiting {
  readonly begin: () => void;
}

/** Starts runs in their order, as many at the same time as the limits allow. */
export class RunQueue {
  readonly #limits: () => QueueLimits;
  readonly #waiting: Waiting[] = [];
  readonly #current = new Set<QueuedRun>();
  #running = 0;
  #isStopped = false;

  /** `limits` returns those that hold now. */
  constructor(limits: () => QueueLimits) {
    this.#limits = limits;
  }

  /** Adds a run, which `begin` starts. Null: too many wait, or the queue was stopped. */
  add(begin: () => ChildRun): QueuedRun | null {
    const { concurrent, queue } = this.#limits();
    const isFree = this.#running < concurrent && this.#waiting.length === 0;
    if (this.#isStopped || (!isFree && this.#waiting.length >= queue)) return null;
    const { promise: ended, resolve } = Promise.withResolvers<EndedRun>();
    let process: ChildRun | null = null;
    const waiting: Waiting = {
      begin: () => {
        this.#running += 1;
        process = begin();
        void process.ended.then((end) => {
          this.#running -= 1;
          resolve(end);
          this.#next();
        });
      },
    };
    const run: QueuedRun = {
      ended,
      stop: (within_ms) => {
        const place = this.#waiting.indexOf(waiting);
        if (place >= 0) {
          this.#waiting.splice(place, 1);
          resolve(NEVER_STARTED);
        } else process?.stop(within_ms);
      },
    };
    this.#current.add(run);
    void ended.then(() => this.#current.delete(run));
    this.#waiting.push(waiting);
    this.#next();
    return run;
  }

  /** Ends all runs within this time and accepts no further ones. */
  async stop(within_ms: number): Promise<void> {
    this.#isStopped = true;
    const runs = [...this.#current];
    // Those that wait go first, so that none of them begins when another ends.
    for (const run of runs.reverse()) run.stop(within_ms);
    await Promise.all(runs.map(({ ended }) => ended));
  }

  #next(): void {
    while (this.#running < this.#limits().concurrent) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next.begin();
    }
  }
}
