import { performance } from 'node:perf_hooks';

/**
 * Nanoseconds of CLOCK_MONOTONIC as a number: comparable between the processes of one machine. `performance.now` reads
 * the same clock with another origin and, unlike `process.hrtime`, allocates no object; the offset between the origins
 * is measured once per thread. Every recorded time of a run comes from here; timeouts and intervals within one thread,
 * where the origin does not matter, read `performance.now`. CPU time is another quantity: see `workNow_ns`.
 */
export function monotonicNow_ns(): number {
  return performance.now() * 1e6 + zero_ns;
}

const zero_ns = distanceOfZeros_ns();

/** The most accurate of several readings: the one with the least time between reading the two clocks. */
function distanceOfZeros_ns(): number {
  let distance = 0;
  let closest = Infinity;
  for (let i = 0; i < 50; i++) {
    const before = performance.now();
    const hrtime = process.hrtime.bigint();
    const after = performance.now();
    if (after - before < closest) {
      closest = after - before;
      distance = Number(hrtime) - ((before + after) / 2) * 1e6;
    }
  }
  return distance;
}

/** Origin of a run's times: the same instant on the wall clock and on the monotonic clock. */
export interface RunEpoch {
  readonly wall: Date;
  readonly monotonic_ns: number;
}

/**
 * Wall time in milliseconds since the epoch, derived from the monotonic clock: it does not jump when the wall clock is
 * set.
 */
export function wallNow_ms({ wall, monotonic_ns }: RunEpoch): number {
  return wall.getTime() + (monotonicNow_ns() - monotonic_ns) / 1e6;
}

export function runEpoch(): RunEpoch {
  return correctedEpoch(0);
}

/** `correction_ms` is added to the wall clock of this machine. */
export function correctedEpoch(correction_ms: number): RunEpoch {
  return { wall: new Date(Date.now() + correction_ms), monotonic_ns: Math.round(monotonicNow_ns()) };
}

const SECOND_MS = 1000;

/**
 * The difference between a server's clock and that of this machine, from the `Date` headers of its responses
 * (https://www.rfc-editor.org/rfc/rfc9110#section-6.6.1), which are cut to whole seconds: each response bounds it, and
 * responses at different fractions of a second narrow the bounds.
 */
export class ServerClock {
  #least_ms = -Infinity;
  #most_ms = Infinity;

  /** `sent_ms` and `received_ms`: when the request was sent and the head of its response received, by this machine. */
  observe(sent_ms: number, received_ms: number, date_ms: number): void {
    this.#least_ms = Math.max(this.#least_ms, date_ms - received_ms);
    this.#most_ms = Math.min(this.#most_ms, date_ms + SECOND_MS - sent_ms);
  }

  /**
   * What has to be added to this machine's clock: the smallest correction that the responses allow, so that clocks that
   * agree within the bounds stay as they are. 0 without a response.
   */
  get correction_ms(): number {
    // Servers behind one address may have clocks that differ: then the bounds cross.
    const low = Math.min(this.#least_ms, this.#most_ms);
    const high = Math.max(this.#least_ms, this.#most_ms);
    return low > 0 ? low : high < 0 ? high : 0;
  }
}

/**
 * CPU time of this thread in nanoseconds. Where the runtime does not report it (Node before 23.9), the monotonic clock
 * is used: differences then include the time taken by other programs.
 */
export function workNow_ns(): number {
  if (typeof process.threadCpuUsage !== 'function') return performance.now() * 1e6;
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1e3;
}
