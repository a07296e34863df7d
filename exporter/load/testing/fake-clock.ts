import type { WakeClock } from '../schedule/schedule.ts';
import type { FakeGate } from './fake-gate.ts';

/** Rings when it is reported that time has passed. */
export class FakeClock implements WakeClock {
  stopped = false;
  readonly #gate: FakeGate;
  #instants: Iterator<number> | null = null;
  #next: number | null = null;
  #ring: (due_ns: number) => void = () => undefined;

  constructor(gate: FakeGate) {
    this.#gate = gate;
  }

  start(instants_ns: Iterator<number>, ring: (due_ns: number) => void): void {
    this.#instants = instants_ns;
    this.#ring = ring;
    this.#pull();
  }

  stop(): void {
    this.stopped = true;
  }

  /** Time passes in one step: a late alarm rings late. */
  to(now_ns: number): void {
    this.#gate.now = now_ns;
    while (!this.stopped && this.#next !== null && this.#next <= now_ns) {
      const due = this.#next;
      this.#pull();
      this.#ring(due);
    }
  }

  /** Whether an instant is still to come. */
  get pending(): boolean {
    return this.#next !== null;
  }

  #pull(): void {
    const next = this.#instants?.next();
    this.#next = next === undefined || next.done === true ? null : next.value;
  }
}
