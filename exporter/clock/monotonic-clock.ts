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
