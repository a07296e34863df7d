/** A run that must not begin as it was asked for: nothing was sent, no run directory was made. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** More concurrent requests than this against a server that is not on this machine want a `--yes`. */
const CAREFUL_CONCURRENCY = 64;

/** Care for other people's servers: throws a `RefusedError` when a large load on a foreign address was not confirmed. */
export function checkLoadIsMeant(origin: string, concurrency: number, confirmed: boolean): void {
  if (confirmed || concurrency <= CAREFUL_CONCURRENCY || isLoopback(new URL(origin).hostname)) return;
  throw new RefusedError(
    `${concurrency} concurrent requests to ${origin}, which is not this machine: say --yes when that is meant ` +
      `(up to ${CAREFUL_CONCURRENCY} need no confirmation)`,
  );
}

/** 127.0.0.0/8, ::1 and localhost. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
