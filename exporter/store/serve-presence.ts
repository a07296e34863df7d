import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceJson } from './durable-file.ts';
import { startHeartbeat } from './heartbeat.ts';
import { ownIdentity } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { isOwned } from './recover.ts';
import { codeOf } from './store-errors.ts';

/** A `serve` that watches a runs directory. */
export interface ServePresence extends ProcessIdentity {
  /** Where it listens: scheme, host and port. */
  readonly url: string;
}

const presencePath = (runsDirectory: string): string => join(runsDirectory, '.serve.json');

/**
 * Lets runs in this directory know that a `serve` lists them, until `stop`. The latest to announce itself is the one
 * that is found. Throws what the file system says.
 */
export async function announceServe(runsDirectory: string, url: string): Promise<{ stop(): Promise<void> }> {
  const path = presencePath(runsDirectory);
  const own: ServePresence = { ...ownIdentity(), url };
  await replaceJson(path, own);
  const heartbeat = startHeartbeat(path);
  return {
    async stop() {
      heartbeat.stop();
      const now = await readPresence(path);
      if (now !== null && now.pid === own.pid && now.start_time === own.start_time) await rm(path, { force: true });
    },
  };
}

/** The `serve` that watches this directory; null when there is none, or its process is gone. */
export async function findServe(runsDirectory: string): Promise<ServePresence | null> {
  const path = presencePath(runsDirectory);
  const presence = await readPresence(path);
  if (presence === null) return null;
  try {
    return (await isOwned(presence, path)) ? presence : null;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Null when there is no such file, or not one that this program wrote. */
async function readPresence(path: string): Promise<ServePresence | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    return isPresence(value) ? { pid: value.pid, start_time: value.start_time, url: value.url } : null;
  } catch {
    return null;
  }
}

function isPresence(value: unknown): value is ServePresence {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, start_time, url } = value as Partial<Record<keyof ServePresence, unknown>>;
  return typeof pid === 'number' && typeof start_time === 'string' && typeof url === 'string';
}
