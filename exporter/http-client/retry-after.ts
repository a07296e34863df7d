/** Upper limit of the wait that a server can request. */
export const LONGEST_RETRY_AFTER_SECONDS = 60;

/**
 * The wait requested by a `Retry-After` header (RFC 9110 §10.2.3: seconds or an HTTP date), at most a minute; null if
 * missing or invalid.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | null {
  const value = header?.trim() ?? '';
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : /^[A-Z][a-z]+,? /.test(value)
      ? (Date.parse(value) - now.getTime()) / 1000
      : NaN;
  if (Number.isNaN(seconds)) return null;
  return Math.min(Math.max(seconds, 0), LONGEST_RETRY_AFTER_SECONDS);
}
