/** Time during which something is so: once, or again and again. Seconds since a start that the user of it chooses. */
export interface Window {
  readonly afterSeconds: number;
  readonly seconds: number;
  /** From the beginning of one to that of the next; null: only once. */
  readonly everySeconds: number | null;
}

/** When the window that holds `time_s` ends, or null when none does. The beginning belongs to it, the end does not. */
export function windowEnd({ afterSeconds, seconds, everySeconds }: Window, time_s: number): number | null {
  if (time_s < afterSeconds) return null;
  const passed = everySeconds === null ? 0 : Math.floor((time_s - afterSeconds) / everySeconds);
  const start = afterSeconds + passed * (everySeconds ?? 0);
  return time_s < start + seconds ? start + seconds : null;
}
