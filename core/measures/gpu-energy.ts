/** What a GPU reported at a moment: joules since any start, or watts. */
export interface GpuReading {
  /** On the clock of the window. */
  readonly at_seconds: number;
  readonly value: number;
}

/** Seconds on any clock; `end_seconds` is the later. */
export interface EnergyWindow {
  readonly start_seconds: number;
  readonly end_seconds: number;
}

/** The energy of one GPU in a window. */
export interface WindowEnergy {
  readonly joules: number;
  /** Longest time between two readings that overlaps the window: what happened within it is not known. */
  readonly resolution_seconds: number;
}

/**
 * Energy in the window from a counter of energy. `changes`: the moments at which the counter had a new value, ascending;
 * linear between them. An exporter that reads its GPUs every 30 s shows a value that is up to 30 s old: therefore an edge
 * that no reading reaches is extrapolated from the nearest two readings, by at most the longest time between two.
 *
 * Null: fewer than two readings, a window farther away from them than that, or a counter that decreased.
 */
export function energyFromCounter(changes: readonly GpuReading[], window: EnergyWindow): WindowEnergy | null {
  const known = reach(changes, window);
  if (known === null || changes.some(({ value }, i) => i > 0 && value < (changes[i - 1]?.value ?? NaN))) return null;
  const at = (seconds: number): number => {
    const i = segmentAt(changes, seconds);
    const [from, to] = [changes[i] as GpuReading, changes[i + 1] as GpuReading];
    return from.value + ((to.value - from.value) * (seconds - from.at_seconds)) / (to.at_seconds - from.at_seconds);
  };
  return { joules: at(window.end_seconds) - at(window.start_seconds), resolution_seconds: known };
}

/**
 * Energy in the window from readings of the power, ascending in time: the integral of the line through them
 * (trapezoids). Before the first and after the last reading the power is held, by at most the longest time between two
 * readings. Null as above.
 */
export function energyFromPower(readings: readonly GpuReading[], window: EnergyWindow): WindowEnergy | null {
  const known = reach(readings, window);
  const [first, last] = [readings[0], readings.at(-1)];
  if (known === null || first === undefined || last === undefined) return null;
  const { start_seconds: start, end_seconds: end } = window;
  let joules =
    first.value * Math.max(0, Math.min(first.at_seconds, end) - start) +
    last.value * Math.max(0, end - Math.max(last.at_seconds, start));
  for (let i = 1; i < readings.length; i++) {
    const [a, b] = [readings[i - 1] as GpuReading, readings[i] as GpuReading];
    const [from, to] = [Math.max(a.at_seconds, start), Math.min(b.at_seconds, end)];
    if (to <= from) continue;
    const watts = (seconds: number): number =>
      a.value + ((b.value - a.value) * (seconds - a.at_seconds)) / (b.at_seconds - a.at_seconds);
    joules += ((watts(from) + watts(to)) / 2) * (to - from);
  }
  return { joules, resolution_seconds: known };
}

/** The resolution in the window; null when the readings do not cover it. */
function reach(readings: readonly GpuReading[], { start_seconds, end_seconds }: EnergyWindow): number | null {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined || readings.length < 2 || end_seconds <= start_seconds) return null;
  let longest = 0;
  let inWindow = 0;
  for (let i = 1; i < readings.length; i++) {
    const [a, b] = [readings[i - 1]?.at_seconds ?? NaN, readings[i]?.at_seconds ?? NaN];
    longest = Math.max(longest, b - a);
    if (b > start_seconds && a < end_seconds) inWindow = Math.max(inWindow, b - a);
  }
  const before = first.at_seconds - start_seconds;
  const after = end_seconds - last.at_seconds;
  // Rounding: two readings at the grid of the exporter are not farther apart than that grid.
  const most = longest * 1.001;
  return before > most || after > most ? null : Math.max(inWindow, before, after);
}

/** The index of the reading that begins the segment that contains a moment, or the segment nearest to it. */
function segmentAt(readings: readonly GpuReading[], seconds: number): number {
  let i = 0;
  while (i + 2 < readings.length && (readings[i + 1]?.at_seconds ?? NaN) <= seconds) i += 1;
  return i;
}
