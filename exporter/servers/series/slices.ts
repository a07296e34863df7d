import type { TimeWindow } from './gauge-statistics.ts';

export interface Slice extends TimeWindow {
  /** False: the last slice, shortened by the end of the window. */
  readonly complete: boolean;
}

/** A window divided into equal slices from its start; the last one may be shorter. */
export function slicesOf({ start_ns, end_ns }: TimeWindow, duration_ns: number): Slice[] {
  const slices: Slice[] = [];
  for (let i = 0; ; i++) {
    const start = start_ns + i * duration_ns;
    if (start >= end_ns) return slices;
    const end = start_ns + (i + 1) * duration_ns;
    slices.push({ start_ns: start, end_ns: Math.min(end, end_ns), complete: end <= end_ns });
  }
}
