/**
 * The wall time of a moment on a run's monotonic clock, RFC 3339 in UTC with milliseconds. `start` is the wall time of
 * the clock's zero; null when it is not known, and then so is the response.
 */
export function instantAt(start: string | null, at_ns: number): string | null {
  return start === null ? null : new Date(Date.parse(start) + at_ns / 1e6).toISOString();
}
