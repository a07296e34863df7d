import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ALARMS, CELL, newAlarmRing, slotOf } from './alarm-ring.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import type { WakeClock } from './schedule.ts';

/**
 * Maximum number of instants that ring within one turn of the loop: a client that is behind continues to read
 * responses.
 */
const RINGS_PER_TURN = 16;

/** A clock that sleeps in a separate thread, in `Atomics.wait`, which wakes this one by `waitAsync`. */
export class ClockThread implements WakeClock {
  readonly #worker: Worker;
  readonly #ring = newAlarmRing();
  readonly #epoch_ns: number;
  /** Null when all of them are written. */
  #instants: Iterator<number> | null = null;
  #call: (due_ns: number) => void = () => undefined;
  /** Written to the ring and not yet rung: relative to the start of the run, from `#head` on. */
  #pending: number[] = [];
  #head = 0;
  #rung = 0;
  #stopped = false;

  private constructor(epoch_ns: number) {
    this.#epoch_ns = epoch_ns;
    // The entry is a source file in a checkout and compiled in a package: it has the extension of this file.
    const entry = new URL(`./clock-worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(entry, { workerData: this.#ring, execArgv: [] });
  }

  /** Resolves when the thread runs. `epoch_ns` is CLOCK_MONOTONIC at the start of the run. */
  static async launch(epoch_ns: number): Promise<ClockThread> {
    const clock = new ClockThread(epoch_ns);
    await once(clock.#worker, 'message');
    clock.#worker.unref();
    return clock;
  }

  start(instants_ns: Iterator<number>, ring: (due_ns: number) => void): void {
    this.#instants = instants_ns;
    this.#call = ring;
    void this.#listen();
  }

  stop(): void {
    this.#stopped = true;
    Atomics.store(this.#ring.control, CELL.stop, 1);
    this.#signal();
    // Ends the wait.
    Atomics.add(this.#ring.control, CELL.wake, 1);
    Atomics.notify(this.#ring.control, CELL.wake);
  }

  async #listen(): Promise<void> {
    const { control } = this.#ring;
    // A pending `waitAsync` alone does not keep the process alive.
    const keepAlive = setInterval(() => undefined, 2 ** 30);
    while (!this.#stopped) {
      const wake = Atomics.load(control, CELL.wake);
      this.#refill();
      const more = this.#ringPassed();
      if (this.#head === this.#pending.length && this.#instants === null) break;
      const waited = more ? null : Atomics.waitAsync(control, CELL.wake, wake);
      if (waited?.async === true) await waited.value;
      else await nextTurn();
    }
    clearInterval(keepAlive);
  }

  /**
   * Rings the instants that are due by this thread's clock. True when it must check again although no signal follows.
   */
  #ringPassed(): boolean {
    for (let rings = 0; rings < RINGS_PER_TURN && !this.#stopped; rings++) {
      const due_ns = this.#pending[this.#head];
      if (due_ns === undefined) return false;
      if (due_ns > monotonicNow_ns() - this.#epoch_ns) return this.#clockThreadIsAhead();
      this.#head++;
      this.#rung = (this.#rung + 1) | 0;
      this.#call(due_ns);
      this.#refill();
    }
    return true;
  }

  /**
   * Two threads read the same clock to within a microsecond: an instant that has passed there may be in the future
   * here.
   */
  #clockThreadIsAhead(): boolean {
    return ((Atomics.load(this.#ring.control, CELL.passed) - this.#rung) | 0) > 0;
  }

  /** Writes further instants when half of the ring is free; a slot is free after the clock thread has passed it. */
  #refill(): void {
    const { control, instants_ns } = this.#ring;
    let written = Atomics.load(control, CELL.written);
    const room = ALARMS - ((written - Atomics.load(control, CELL.passed)) | 0);
    if (this.#instants === null || room < ALARMS / 2) return;
    this.#pending = this.#pending.slice(this.#head);
    this.#head = 0;
    for (let i = 0; i < room && this.#instants !== null; i++) {
      const next = this.#instants.next();
      if (next.done === true) {
        this.#instants = null;
        break;
      }
      this.#pending.push(next.value);
      instants_ns[slotOf(written)] = next.value + this.#epoch_ns;
      written = (written + 1) | 0;
    }
    Atomics.store(control, CELL.written, written);
    this.#signal();
  }

  #signal(): void {
    Atomics.add(this.#ring.control, CELL.signal, 1);
    Atomics.notify(this.#ring.control, CELL.signal);
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
