/** Upper limit of the wait that a server can request. */
export const MAX_RETRY_AFTER_SECONDS = 60;

/**
 * The wait requested by a `Retry-After` header (RFC 9110 §10.2.3: seconds or an HTTP date), at most a minute; null if
 * missing or invalid.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | null {
  const seconds = requestedSeconds(header, now);
  return seconds === null ? null : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS);
}

/** One phrase if the server requests a longer wait than is granted, else null. */
export function longRetryAfter(header: string | undefined, now: Date): string | null {
  const seconds = requestedSeconds(header, now);
  if (seconds === null || seconds <= MAX_RETRY_AFTER_SECONDS) return null;
  return `Retry-After requests ${Math.round(seconds)} s, of which ${MAX_RETRY_AFTER_SECONDS} s are waited`;
}

function requestedSeconds(header: string | undefined, now: Date): number | null {
  const value = header?.trim() ?? '';
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : /^[A-Z][a-z]+,? /.test(value)
      ? (Date.parse(value) - now.getTime()) / 1000
      : NaN;
  return Number.isNaN(seconds) ? null : seconds;
}
