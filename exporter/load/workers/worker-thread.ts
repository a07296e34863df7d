import { Worker } from 'node:worker_threads';
import type { WorkerCommand, WorkerReport, WorkerStart } from './messages.ts';

/**
 * Two halves of 16 MB and the objects that are moved between them: larger ones save no CPU, and their memory is never
 * released.
 */
const YOUNG_GENERATION_MB = 48;

/** One worker of a load, as the leading thread sees it. */
export class WorkerThread {
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
