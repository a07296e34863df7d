/** A run that must not begin as it was asked for: nothing was sent, no run directory was made. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** More concurrent requests than this against a server that is not on this machine want a `--yes`. */
const CAREFUL_CONCURRENCY = 64;

/** How large the loads of one command are. */
export interface IntendedLoad {
  /** Most requests in flight at a time; null when nothing limits them. */
  readonly concurrency: number | null;
  /** How many runs with another load follow each other. */
  readonly steps: number;
}

/** Care for other people's servers: throws a `RefusedError` when a large load on a foreign address was not confirmed. */
export function checkLoadIsMeant(origin: string, { concurrency, steps }: IntendedLoad, confirmed: boolean): void {
  if (confirmed || isLoopback(new URL(origin).hostname)) return;
  const remark = `to ${origin}, which is not this machine: say --yes when that is meant`;
  const limit = `(up to ${CAREFUL_CONCURRENCY} concurrent requests need no confirmation)`;
  if (concurrency === null) throw new RefusedError(`a load without --concurrency as its limit ${remark} ${limit}`);
  if (concurrency > CAREFUL_CONCURRENCY)
    throw new RefusedError(`${concurrency} concurrent requests ${remark} ${limit}`);
  if (steps > 1) throw new RefusedError(`a sweep of ${steps} loads ${remark}`);
}

/** 127.0.0.0/8, ::1 and localhost. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
