/** The first and the last moment that a run can have begun: before and after, a time is a mistake. */
const EARLIEST_MS = Date.UTC(2015, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);

/** Milliseconds since 1970 as RFC 3339 in UTC; null for what can be no time of a benchmark. */
export function wallInstant(ms: number): string | null {
  return ms >= EARLIEST_MS && ms < LATEST_MS ? new Date(ms).toISOString() : null;
}
