import type { Increment } from './increments.ts';

/** The observations of a sliding window that ends at a sample. */
export interface CounterWindow {
  /** Exclusive. */
  startMs: number;
  endMs: number;
  counts: number[];
  reset: boolean;
}

/**
 * Slides a window of `steps` increments over them. After the first sample and after a gap the windows grow from one
 * increment on; none reaches over a gap.
 */
export function counterWindows(increments: readonly Increment[], steps: number): CounterWindow[] {
  const windows: CounterWindow[] = [];
  let segment: Increment[] = [];
  let sums: number[] = [];
  for (const increment of increments) {
    if (increment.gap) {
      segment = [];
      continue;
    }
    const leaving = segment.length - steps;
    const left = segment[leaving]?.counts;
    sums =
      segment.length === 0
        ? [...increment.counts]
        : increment.counts.map((count, i) => (sums[i] ?? 0) + count - (left?.[i] ?? 0));
    segment.push(increment);
    const inside = segment.slice(-steps);
    windows.push({
      startMs: inside[0]?.startMs ?? increment.startMs,
      endMs: increment.endMs,
      counts: sums,
      reset: inside.some(({ reset }) => reset),
    });
  }
  return windows;
}
