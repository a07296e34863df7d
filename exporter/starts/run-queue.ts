import { spawn } from 'node:child_process';

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

export interface EndedRun {
  /** Of the command; null: it was ended by a signal or never started. */
  readonly exitCode: number | null;
  /** Standard output; null unless it was kept. */
  readonly output: string | null;
  /** The last line on standard error, or why it was not started; null without. */
  readonly message: string | null;
}

/** A command such as `llmbench run` in a process of its own. */
export interface ChildRun {
  readonly ended: Promise<EndedRun>;
  /** Ends it within this time: requests in flight finish in the first half, are cancelled in the second. */
  stop(within_ms: number): void;
}

interface ChildRunOptions {
  /** To which its paths are relative. */
  readonly folder: string;
  readonly keepsOutput: boolean;
}

/** `words`: the command and its options. */
export type StartRun = (words: readonly string[], options: ChildRunOptions) => ChildRun;

/** A result is far smaller. */
const MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024;

const MAX_MESSAGE_CHARACTERS = 4000;

const MAX_LINE = 500;

/**
 * Starts commands with this launcher. They get no variable of this program, which may hold its secrets and would set their
 * options; all others are passed on. Each is in a process group of its own: Ctrl-C reaches this process, which then stops it.
 */
export function runStarter(launcher: string, environment: NodeJS.ProcessEnv): StartRun {
  const passed = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('LLMBENCH_')));
  return (words, { folder, keepsOutput }) => {
    const child = spawn(process.execPath, [launcher, ...words], {
      cwd: folder,
      env: { ...passed, NO_COLOR: '1' },
      detached: true,
      stdio: ['ignore', keepsOutput ? 'pipe' : 'ignore', 'pipe'],
    });
    let output = '';
    let messages = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      output += piece;
      if (output.length > MAX_OUTPUT_CHARACTERS) child.kill('SIGKILL');
    });
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      messages = (messages + piece).slice(-MAX_MESSAGE_CHARACTERS);
    });
    const ended = new Promise<EndedRun>((resolve) => {
      child.once('error', (error) => resolve({ exitCode: null, output: null, message: error.message }));
      child.once('close', (exitCode) =>
        resolve({ exitCode, output: keepsOutput ? output : null, message: lastLine(messages) }),
      );
    });
    return {
      ended,
      stop(within_ms) {
        child.kill('SIGTERM');
        // The second signal cancels the requests that are still in flight.
        const timers = [
          setTimeout(() => child.kill('SIGTERM'), within_ms / 2),
          setTimeout(() => child.kill('SIGKILL'), within_ms),
        ];
        void ended.then(() => timers.forEach(clearTimeout));
      },
    };
  };
}

function lastLine(messages: string): string | null {
  const lines = messages.split('\n').filter((line) => line.trim() !== '');
  return lines.at(-1)?.trim().slice(0, MAX_LINE) ?? null;
}
