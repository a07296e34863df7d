import type { Gate, RequestClosed } from '../schedule/schedule.ts';

/** A gate whose clock and answers are moved by hand. */
export class FakeGate implements Gate {
  now = 0;
  /** How many requests it still sends. */
  left = Infinity;
  /** Of the requests sent, in order. */
  readonly due: number[] = [];
  finished = false;
  readonly #closed: RequestClosed[] = [];
  readonly #firstContent: ((() => void) | undefined)[] = [];

  now_ns(): number {
    return this.now;
  }

  send(due_ns: number, closed: RequestClosed, firstContent?: () => void): boolean {
    if (this.left-- <= 0) return false;
    this.due.push(due_ns);
    this.#closed.push(closed);
    this.#firstContent.push(firstContent);
    return true;
  }

  finish(): void {
    this.finished = true;
  }

  /** The first chunk with content of the n-th request sent has come. */
  first(n: number): void {
    this.#firstContent[n]?.();
  }

  /** The n-th request sent has ended. */
  end(n: number, end_ns: number, retryAfterSeconds: number | null = null): void {
    this.#closed[n]?.(end_ns, retryAfterSeconds);
  }
}
