import { stat, utimes } from 'node:fs/promises';
import { codeOf } from '../errors/store-errors.ts';

const INTERVAL_MS = 5_000;
/** A path that was not touched for this long has no owner. */
const STALE_MS = 60_000;

/** Touches a path every five seconds until stopped, for processes that cannot check whether this one is running. */
export function startHeartbeat(path: string): { stop(): void } {
  const touch = (): void => {
    const now = new Date();
    utimes(path, now, now).catch((error: unknown) => {
      // Any other failure leaves the path untouched this time, as a missing heartbeat should.
      if (codeOf(error) === 'ENOENT') clearInterval(timer);
    });
  };
  const timer = setInterval(touch, INTERVAL_MS).unref();
  return { stop: () => clearInterval(timer) };
}

/** Whether a path was modified within the last minute. Throws if it does not exist. */
export async function isFresh(path: string, now: Date = new Date()): Promise<boolean> {
  return now.getTime() - (await stat(path)).mtimeMs < STALE_MS;
}
