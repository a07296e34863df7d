import { ExpectedError } from '../../errors/expected-error.ts';
import { getCompileCacheDir } from 'node:module';
import type { ClientHealth } from '../../../core/run/result.ts';
import { EarlyEnd } from '../phases/early-end.ts';
import type { LoadGenerator, PhaseTurn, PreparedPhase } from '../load-generator.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { Measuring } from '../phases/measuring.ts';
import type { PhaseResult, PhaseRun } from '../phases/phase-result.ts';
import type { RunControls } from '../phases/run-controls.ts';
import { EventReplay } from './event-log.ts';
import { newLoadMemory } from './load-memory.ts';
import type { WorkerCommand, WorkerReport, WorkerRun } from './messages.ts';
import { PhaseTally } from './phase-tally.ts';
import { WorkerThread } from './worker-thread.ts';
import { EventLoopDelays } from '../client/event-loop-delays.ts';
import { MeasuredClient } from '../client/measured-client.ts';

/** Delay between the command to run and the zero of arrival times, so that all workers have received the command. */
const LEAD_NS = 20e6;

export interface WorkerLoadParts {
  readonly observers: readonly RunEvents[];
  readonly controls: RunControls;
}

/**
 * Generates a load in several threads, each with its own heap and event loop. Their events are replayed to the
 * observers in this thread, in order per worker, at most a tenth of a second late, and completely when a phase ends.
 */
export class WorkerLoad implements LoadGenerator {
  readonly #memory = newLoadMemory();
  readonly #threads: readonly WorkerThread[];
  #observers: readonly RunEvents[] = [];
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

  /** Waits until all are ready. Throws an `ExpectedError` when one fails to start. */
  async begin(run: WorkerRun): Promise<void> {
    this.#epoch_ns = run.epoch_ns;
    const begun = await this.#callAll({ order: 'begin', run }, 'begun');
    const missing = begun.indexOf(null);
    if (missing >= 0) throw new ExpectedError('failed', this.#endText(missing));
  }

  /** Call before the first phase: sets the observers of the load, and who may end it. */
  lead({ observers, controls }: WorkerLoadParts): this {
    this.#health = new WorkersHealth(this.workers, observers);
    this.#observers = [this.#health, ...observers];
    this.#postOnAbort(controls.draining, { order: 'drain' });
    this.#postOnAbort(controls.aborting, { order: 'abort' });
    return this;
  }

  async prepare({ phase, load, firstIndex }: PhaseTurn): Promise<PreparedPhase> {
    new EarlyEnd(this.#memory.earlyEnd).clear();
    new Measuring(this.#memory.measuring).begin(this.workers);
    const tally = new PhaseTally(phase);
    const coolDown = new PhaseTally('cooldown');
    this.#threads.forEach((thread, worker) => {
      const replay = new EventReplay([...this.#observers, tally, coolDown, this.#health.ofWorker(worker)]);
      thread.listen(
        (report) => this.#handleReport(report, replay),
        () => this.#postAll({ order: 'drain' }),
      );
    });
    await this.#callAll({ order: 'prepare', phase, firstIndex }, 'prepared');
    return {
      run: async (start_ns) => {
        this.#health.phaseStarted(phase);
        // Slots open when the command arrives; arrivals require the same zero of time in all workers.
        const zero_ns = load.load.arrivals === null ? null : this.#now_ns() + LEAD_NS;
        const order = { order: 'run', start_ns: start_ns ?? zero_ns } as const;
        const reports = await this.#callAll(order, 'ended');
        this.#health.phaseEnded(phase);
        const result = this.#result(tally, reports);
        if (load.coolDown !== true) clearTimeout(this.#cancelling);
        return { result, coolDown: load.coolDown === true ? await this.#coolDown(coolDown) : null };
      },
    };
  }

  async #coolDown(tally: PhaseTally): Promise<PhaseRun['coolDown']> {
    const ended = this.#callAll({ order: 'cool_down' }, 'cooled_down').then((reports) => {
      clearTimeout(this.#cancelling);
      return this.#result(tally, reports);
    });
    const { start_ns } = tally;
    if (start_ns !== null) return { start_ns, ended };
    await ended;
    return null;
  }

  /** The sum of the workers' reports; null is the report of a worker that has ended. */
  #result(tally: PhaseTally, reports: readonly ({ readonly result: PhaseResult | null } | null)[]): PhaseResult {
    const missing = reports.indexOf(null);
    const results = reports.flatMap((report) => report?.result ?? []);
    return tally.result(results, missing < 0 ? null : this.#endText(missing));
  }

  health(): ClientHealth {
    return this.#health.result();
  }

  stop(): void {
    clearTimeout(this.#cancelling);
  }

  /** Ends the threads, regardless of their state. */
  async close(): Promise<void> {
    this.stop();
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #handleReport(report: WorkerReport, replay: EventReplay): void {
    if (report.report === 'events') replay.replay(report.batch);
    else if (report.report === 'ended_early') this.#endEarly(report.graceSeconds);
  }

  /** One worker reached a limit that applies to all. */
  #endEarly(graceSeconds: number | null): void {
    this.#postAll({ order: 'drain' });
    if (graceSeconds !== null)
      this.#cancelling = setTimeout(() => this.#postAll({ order: 'abort' }), graceSeconds * 1000);
  }

  #postOnAbort(signal: AbortSignal, order: WorkerCommand): void {
    if (signal.aborted) this.#postAll(order);
    else signal.addEventListener('abort', () => this.#postAll(order), { once: true });
  }

  #postAll(order: WorkerCommand): void {
    for (const thread of this.#threads) thread.post(order);
  }

  #callAll<R extends WorkerReport['report']>(
    order: WorkerCommand,
    report: R,
  ): Promise<(Extract<WorkerReport, { report: R }> | null)[]> {
    return Promise.all(this.#threads.map((thread) => thread.call(order, report)));
  }

  #endText(worker: number): string {
    return `worker ${worker + 1} of ${this.workers} ended: ${this.#threads[worker]?.endReason ?? ''}`;
  }

  #now_ns(): number {
    return Math.round(monotonicNow_ns()) - this.#epoch_ns;
  }
}

/**
 * Monitors a load that several threads generate: each reports the delays of its event loop, the CPU time is that of the
 * whole process, and all are compared with the inter-token latency of all requests.
 */
class WorkersHealth extends MeasuredClient {
  readonly #delays: readonly EventLoopDelays[];

  /** The observers are notified when the verdict changes. */
  constructor(workers: number, observers: readonly RunEvents[]) {
    super(observers);
    this.#delays = Array.from({ length: workers }, () => new EventLoopDelays());
  }

  /** Processes a report of one worker about itself. */
  ofWorker(worker: number): RunEvents {
    const delays = this.#delays[worker];
    return delays === undefined ? {} : { eventLoopDelay: (delay_ns) => this.sampled(delays, delay_ns) };
  }

  protected override get loops(): readonly EventLoopDelays[] {
    return this.#delays;
  }
}
