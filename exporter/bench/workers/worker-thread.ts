import { Worker } from 'node:worker_threads';
import type { Order, Report, WorkerStart } from './messages.ts';

/** Two halves of 16 MB and what is moved between them: larger ones save no CPU, and stay in memory for good. */
const YOUNG_GENERATION_MB = 48;

/** One worker of a load, seen from the thread that leads. */
export class WorkerThread {
  readonly #worker: Worker;
  readonly #awaited = new Map<Report['report'], (report: Report | null) => void>();
  #heard: (report: Report) => void = () => undefined;
  #lost: (why: string) => void = () => undefined;
  #gone: string | null = null;
  #isClosing = false;

  constructor(entry: URL, start: WorkerStart) {
    // Flags of the leading thread are its own business.
    this.#worker = new Worker(entry, {
      workerData: start,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker.on('message', (report: Report) => this.#take(report));
    this.#worker.on('error', (error) => this.#end(messageOf(error)));
    this.#worker.on('exit', (code) => this.#end(`it ended with ${code}`));
  }

  /** Why it is no more; null while it is. */
  get gone(): string | null {
    return this.#gone;
  }

  /** `heard` gets what it tells unasked; `lost` is called once when it ends by itself. */
  listen(heard: (report: Report) => void, lost: (why: string) => void): void {
    this.#heard = heard;
    this.#lost = lost;
    if (this.#gone !== null) lost(this.#gone);
  }

  tell(order: Order): void {
    if (this.#gone === null) this.#worker.postMessage(order);
  }

  /** Gives an order and waits for the report that it ends with; null when the worker is gone. */
  ask<R extends Report['report']>(order: Order, report: R): Promise<Extract<Report, { report: R }> | null> {
    return new Promise((resolve) => {
      if (this.#gone !== null) return resolve(null);
      this.#awaited.set(report, (given) => resolve(given as Extract<Report, { report: R }> | null));
      this.#worker.postMessage(order);
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#worker.terminate();
  }

  #take(report: Report): void {
    const awaited = this.#awaited.get(report.report);
    this.#awaited.delete(report.report);
    if (awaited === undefined) this.#heard(report);
    else awaited(report);
  }

  #end(why: string): void {
    if (this.#gone !== null) return;
    this.#gone = why;
    const awaited = [...this.#awaited.values()];
    this.#awaited.clear();
    for (const each of awaited) each(null);
    if (!this.#isClosing) this.#lost(why);
  }
}

/** An error of another thread is none of this one's class. */
function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
