import { getCompileCacheDir } from 'node:module';
import type { ClientHealth } from '../../../core/run/result.ts';
import { EarlyEnd } from '../early-end.ts';
import type { LoadGenerator, PhaseTurn, PreparedPhase } from '../load-generator.ts';
import { monotonicNow_ns } from '../monotonic-clock.ts';
import type { RunObserver } from '../observer.ts';
import type { PhaseResult } from '../phases.ts';
import type { RunControls } from '../run-controls.ts';
import { EventReplay } from './event-log.ts';
import { newLoadMemory } from './load-memory.ts';
import type { Order, Report, WorkerRun } from './messages.ts';
import { PhaseTally } from './phase-tally.ts';
import { WorkerThread } from './worker-thread.ts';
import { WorkersHealth } from './workers-health.ts';

/** Between the order to run and the instant from which arrivals count, so that all workers have heard of it. */
const LEAD_NS = 20e6;

/** The workers ended before they could begin. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
}

export interface WorkerLoadParts {
  readonly observers: readonly RunObserver[];
  readonly controls: RunControls;
}

/**
 * Makes a load in several threads, each with a heap and an event loop of its own. What they tell is told to the observers
 * in this thread, of each worker in its order, at most a tenth of a second late, and wholly when a phase ends.
 */
export class WorkerLoad implements LoadGenerator {
  readonly #memory = newLoadMemory();
  readonly #threads: readonly WorkerThread[];
  #observers: readonly RunObserver[] = [];
  #health: WorkersHealth;
  #epoch_ns = 0;
  #cancelling: NodeJS.Timeout | undefined;

  /** Starts the threads. `entry` is their program, which gets `setup`. */
  constructor(entry: URL, setup: unknown, workers: number) {
    const compileCache = getCompileCacheDir() ?? null;
    this.#health = new WorkersHealth(workers, []);
    this.#threads = Array.from({ length: workers }, (_, part) => {
      const worker = { part, parts: workers };
      return new WorkerThread(entry, { setup, worker, memory: this.#memory, compileCache });
    });
  }

  get workers(): number {
    return this.#threads.length;
  }

  /** Waits until all are ready. Throws a `WorkerError` when one is not to be had. */
  async begin(run: WorkerRun): Promise<void> {
    this.#epoch_ns = run.epoch_ns;
    const begun = await this.#askAll({ order: 'begin', run }, 'begun');
    const missing = begun.indexOf(null);
    if (missing >= 0) throw new WorkerError(this.#endOf(missing));
  }

  /** Before the first phase: who is to hear of the load, and who may end it. */
  lead({ observers, controls }: WorkerLoadParts): this {
    this.#health = new WorkersHealth(this.workers, observers);
    this.#observers = [this.#health, ...observers];
    this.#obeyed(controls.draining, { order: 'drain' });
    this.#obeyed(controls.aborting, { order: 'abort' });
    return this;
  }

  async prepare({ phase, load, firstIndex }: PhaseTurn): Promise<PreparedPhase> {
    new EarlyEnd(this.#memory.earlyEnd).clear();
    const tally = new PhaseTally(phase);
    this.#threads.forEach((thread, worker) => {
      const replay = new EventReplay([...this.#observers, tally, this.#health.ofWorker(worker)]);
      thread.listen(
        (report) => this.#heard(report, replay),
        () => this.#tellAll({ order: 'drain' }),
      );
    });
    await this.#askAll({ order: 'prepare', phase, firstIndex }, 'prepared');
    return {
      run: async (start_ns) => {
        this.#health.phaseStarted(phase);
        // Slots open when the order comes; arrivals must have one zero of time in all workers.
        const zero_ns = load.load.arrivals === null ? null : this.#now_ns() + LEAD_NS;
        const order = { order: 'run', start_ns: start_ns ?? zero_ns } as const;
        const reports = await this.#askAll(order, 'ended');
        clearTimeout(this.#cancelling);
        this.#health.phaseEnded(phase);
        const results = reports.flatMap((report): PhaseResult[] => (report === null ? [] : [report.result]));
        const missing = reports.indexOf(null);
        return tally.result(results, missing < 0 ? null : this.#endOf(missing));
      },
    };
  }

  health(): ClientHealth {
    return this.#health.result();
  }

  stop(): void {
    clearTimeout(this.#cancelling);
  }

  /** Ends the threads, whatever they do. */
  async close(): Promise<void> {
    this.stop();
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #heard(report: Report, replay: EventReplay): void {
    if (report.report === 'events') replay.tell(report.batch);
    else if (report.report === 'ended_early') this.#endEarly(report.graceSeconds);
  }

  /** One worker met the limit that holds for all. */
  #endEarly(graceSeconds: number | null): void {
    this.#tellAll({ order: 'drain' });
    if (graceSeconds !== null)
      this.#cancelling = setTimeout(() => this.#tellAll({ order: 'abort' }), graceSeconds * 1000);
  }

  #obeyed(signal: AbortSignal, order: Order): void {
    if (signal.aborted) this.#tellAll(order);
    else signal.addEventListener('abort', () => this.#tellAll(order), { once: true });
  }

  #tellAll(order: Order): void {
    for (const thread of this.#threads) thread.tell(order);
  }

  #askAll<R extends Report['report']>(order: Order, report: R): Promise<(Extract<Report, { report: R }> | null)[]> {
    return Promise.all(this.#threads.map((thread) => thread.ask(order, report)));
  }

  #endOf(worker: number): string {
    return `worker ${worker + 1} of ${this.workers} ended: ${this.#threads[worker]?.gone ?? ''}`;
  }

  #now_ns(): number {
    return Math.round(monotonicNow_ns()) - this.#epoch_ns;
  }
}
