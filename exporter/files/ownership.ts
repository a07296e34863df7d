import { isFresh } from './heartbeat.ts';
import { processState } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** Whether the process that owns a path is running: checked directly, or by its heartbeat if it cannot be checked. */
export async function isOwned(owner: ProcessIdentity, path: string): Promise<boolean> {
  const state = processState(owner);
  return state === 'alive' || (state === 'elsewhere' && (await isFresh(path)));
}
