import { performance } from 'node:perf_hooks';

/**
 * Nanoseconds of CLOCK_MONOTONIC as a number: comparable between the processes of one machine. `performance.now` reads
 * the same clock from another zero and, unlike `process.hrtime`, makes no object; the distance of the zeros is measured
 * once per thread.
 */
export function monotonicNow_ns(): number {
  return performance.now() * 1e6 + zero_ns;
}

const zero_ns = distanceOfZeros_ns();

/** The closest of several readings: the one with the least time between the clocks. */
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

/** The zero of a run's times: the same instant on the wall clock and on the monotonic one. */
export interface RunEpoch {
  readonly wall: Date;
  readonly monotonic_ns: number;
}

/** Wall time in milliseconds since the epoch, by the monotonic clock: it does not jump when the wall clock is set. */
export function wallNow_ms({ wall, monotonic_ns }: RunEpoch): number {
  return wall.getTime() + (monotonicNow_ns() - monotonic_ns) / 1e6;
}

export function runEpoch(): RunEpoch {
  return { wall: new Date(), monotonic_ns: Math.round(monotonicNow_ns()) };
}
