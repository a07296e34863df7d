import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, until the signal at the longest. Resolves also when the signal ends the wait. */
export async function pause(wait_ms: number, ended: AbortSignal | null = null): Promise<void> {
  try {
    await sleep(wait_ms, undefined, ended === null ? {} : { signal: ended });
  } catch (error) {
    if (ended?.aborted !== true) throw error;
  }
}
