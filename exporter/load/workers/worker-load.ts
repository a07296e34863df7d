import { Worker } from 'node:worker_threads';
import { getCompileCacheDir } from 'node:module';
import type { ErrorReason, Outcome, PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { ClientHealth } from '../../../core/run/result.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import { ExpectedError } from '../../errors/expected-error.ts';
import { EventLoopDelays, MeasuredClient } from '../client/client-health.ts';
import type { PhaseResult, LoadGenerator, PhaseTurn, PreparedPhase, PhaseRun } from '../load-generator.ts';
import { EarlyEnd } from '../phases/early-end.ts';
import type { RunControls } from '../phases/run-controls.ts';
import { allFindings } from '../responses/response-findings.ts';
import { Measuring, newLoadMemory } from '../shared-counters.ts';
import { type WorkerCommand, type WorkerReport, type WorkerStart, EventReplay, type WorkerRun } from './messages.ts';

/** Counts the workers' events of a phase: so nothing is missing from a worker that did not finish. */
class PhaseTally implements RunEvents {
  readonly #phase: PhaseName;
  readonly #requests: Record<Outcome, number> = { ok: 0, error: 0, timeout: 0, cancelled: 0 };
  readonly #errors: Partial<Record<ErrorReason, number>> = {};
  #sent = 0;
  #start_ns = Infinity;
  #end_ns = -Infinity;

  constructor(phase: PhaseName) {
    this.#phase = phase;
  }

  requestSent(phase: PhaseName, _due_ns: number, sent_ns: number): void {
    if (phase !== this.#phase) return;
    this.#sent++;
    this.#start_ns = Math.min(this.#start_ns, sent_ns);
  }

  requestEnded({ phase, outcome, reason, end_ns }: RequestRecord): void {
    if (phase !== this.#phase) return;
    this.#requests[outcome]++;
    if (reason !== null) this.#errors[reason] = (this.#errors[reason] ?? 0) + 1;
    this.#end_ns = Math.max(this.#end_ns, end_ns);
  }

  /** When the first request was sent; null before. */
  get start_ns(): number | null {
    return this.#sent === 0 ? null : this.#start_ns;
  }

  /** `results`: of the workers that finished; `broken`: what happened to the others, null for none. */
  result(results: readonly PhaseResult[], broken: string | null): PhaseResult {
    const first = <T>(value: (result: PhaseResult) => T | null): T | null =>
      results.map(value).find((each) => each !== null) ?? null;
    const total = (value: (result: PhaseResult) => number): number =>
      results.reduce((sum, result) => sum + value(result), 0);
    const ended = Object.values(this.#requests).reduce((sum, count) => sum + count, 0);
    const lost = this.#sent - ended;
    return {
      phase: this.#phase,
      start_ns: this.start_ns,
      end_ns: ended === 0 ? null : this.#end_ns,
      requests: this.#requests,
      sent: this.#sent,
      documents: results.some(({ documents }) => documents != null) ? total(({ documents }) => documents ?? 0) : null,
      positions: results.reduce((most, { positions }) => Math.max(most, positions), 0),
      unsent: total(({ unsent }) => unsent),
      errors: this.#errors,
      messages: Object.assign({}, ...results.map(({ messages }) => messages).reverse()) as PhaseResult['messages'],
      connectionRetries: total(({ connectionRetries }) => connectionRetries),
      findings: allFindings(results),
      tooManyErrors: first(({ tooManyErrors }) => tooManyErrors),
      overBudget: first(({ overBudget }) => overBudget),
      broken: broken === null || lost === 0 ? broken : `${broken}; ${lost} requests in flight were lost`,
    };
  }
}

/**
 * Two halves of 16 MB and the objects that are moved between them: larger ones save no CPU, and their memory is never
 * released.
 */
const YOUNG_GENERATION_MB = 48;

/** One worker of a load, as the leading thread sees it. */
class WorkerThread {
  readonly #worker: Worker;
  readonly #awaited = new Map<WorkerReport['report'], (report: WorkerReport | null) => void>();
  #onReport: (report: WorkerReport) => void = () => undefined;
  #onExit: (why: string) => void = () => undefined;
  #endReason: string | null = null;
  #isClosing = false;

  constructor(entry: URL, start: WorkerStart) {
    // The leading thread's flags do not apply to workers.
    this.#worker = new Worker(entry, {
      workerData: start,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker.on('message', (report: WorkerReport) => this.#take(report));
    this.#worker.on('error', (error) => this.#end(messageOf(error)));
    this.#worker.on('exit', (code) => this.#end(`exit code ${code}`));
  }

  /** Why it ended; null while it runs. */
  get endReason(): string | null {
    return this.#endReason;
  }

  /** `onReport` gets its unsolicited messages; `onExit` is called once when it ends by itself. */
  listen(onReport: (report: WorkerReport) => void, onExit: (why: string) => void): void {
    this.#onReport = onReport;
    this.#onExit = onExit;
    if (this.#endReason !== null) onExit(this.#endReason);
  }

  post(order: WorkerCommand): void {
    if (this.#endReason === null) this.#worker.postMessage(order);
  }

  /** Sends a command and waits for the report that completes it; null when the worker has ended. */
  call<R extends WorkerReport['report']>(
    order: WorkerCommand,
    report: R,
  ): Promise<Extract<WorkerReport, { report: R }> | null> {
    return new Promise((resolve) => {
      if (this.#endReason !== null) return resolve(null);
      this.#awaited.set(report, (given) => resolve(given as Extract<WorkerReport, { report: R }> | null));
      this.#worker.postMessage(order);
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#worker.terminate();
  }

  #take(report: WorkerReport): void {
    const awaited = this.#awaited.get(report.report);
    this.#awaited.delete(report.report);
    if (awaited === undefined) this.#onReport(report);
    else awaited(report);
  }

  #end(why: string): void {
    if (this.#endReason !== null) return;
    this.#endReason = why;
    const awaited = [...this.#awaited.values()];
    this.#awaited.clear();
    for (const each of awaited) each(null);
    if (!this.#isClosing) this.#onExit(why);
  }
}

/** An error from another thread is not an instance of this thread's classes. */
function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}

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
