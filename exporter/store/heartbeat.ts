import { stat, utimes } from 'node:fs/promises';
import { codeOf } from './store-errors.ts';

const INTERVAL_MS = 5_000;
/** A path whose owner has not touched it for so long has no owner any more. */
const STALE_MS = 60_000;

/** Touches a path every five seconds until it is stopped, for those who cannot see whether this process lives. */
export function startHeartbeat(path: string): { stop(): void } {
  const touch = (): void => {
    const now = new Date();
    utimes(path, now, now).catch((error: unknown) => {
      // Any other failure leaves the path untouched this time, which is all that a heartbeat can say.
      if (codeOf(error) === 'ENOENT') clearInterval(timer);
    });
  };
  const timer = setInterval(touch, INTERVAL_MS).unref();
  return { stop: () => clearInterval(timer) };
}

/** Whether a path was written or touched within the last minute. Throws when it is not there. */
export async function isFresh(path: string, now: Date = new Date()): Promise<boolean> {
  return now.getTime() - (await stat(path)).mtimeMs < STALE_MS;
}
