import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceJson } from './durable-file.ts';
import { startHeartbeat } from './heartbeat.ts';
import { ownIdentity } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { isOwned } from './ownership.ts';
import { codeOf } from './store-errors.ts';

/** A `serve` that watches a runs directory. */
export interface ServePresence extends ProcessIdentity {
  /** Where it listens: scheme, host and port. */
  readonly url: string;
  /** When somebody last asked it for the running runs, RFC 3339 in UTC; null when nobody has. */
  readonly discovery_asked_at: string | null;
}

/** Discovery every minute, Prometheus' default, counts as going on. */
const DISCOVERY_GOES_ON_MS = 90_000;
const LEAST_BETWEEN_NOTES_MS = 5_000;

export interface AnnouncedServe {
  /** Notes that somebody asked for the running runs. */
  discoveryAsked(): void;
  stop(): Promise<void>;
}

const presencePath = (runsDirectory: string): string => join(runsDirectory, '.serve.json');

/**
 * Lets runs in this directory know that a `serve` lists them, until `stop`. The latest to announce itself is the one
 * that is found. Throws what the file system says.
 */
export async function announceServe(runsDirectory: string, url: string): Promise<AnnouncedServe> {
  const path = presencePath(runsDirectory);
  const own: ServePresence = { ...ownIdentity(), url, discovery_asked_at: null };
  await replaceJson(path, own);
  const heartbeat = startHeartbeat(path);
  let notedAt_ms = 0;
  let noting: Promise<void> = Promise.resolve();
  return {
    discoveryAsked() {
      const now = new Date();
      if (now.getTime() - notedAt_ms < LEAST_BETWEEN_NOTES_MS) return;
      notedAt_ms = now.getTime();
      // A note that cannot be written only makes short runs wait less; the next request tries again.
      noting = replaceJson(path, { ...own, discovery_asked_at: now.toISOString() }).catch(() => undefined);
    },
    async stop() {
      heartbeat.stop();
      await noting;
      const now = await readPresence(path);
      if (now !== null && now.pid === own.pid && now.start_time === own.start_time) await rm(path, { force: true });
    },
  };
}

/** Whether somebody asks the `serve` of this directory for running runs, and so will find one that is new. */
export async function isDiscovered(runsDirectory: string, now: Date = new Date()): Promise<boolean> {
  const asked = (await findServe(runsDirectory))?.discovery_asked_at ?? null;
  return asked !== null && now.getTime() - Date.parse(asked) < DISCOVERY_GOES_ON_MS;
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
    if (!isPresence(value)) return null;
    const { pid, start_time, url, discovery_asked_at } = value;
    return { pid, start_time, url, discovery_asked_at: discovery_asked_at ?? null };
  } catch {
    return null;
  }
}

function isPresence(value: unknown): value is ServePresence {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, start_time, url, discovery_asked_at: asked } = value as Partial<Record<keyof ServePresence, unknown>>;
  return (
    typeof pid === 'number' &&
    typeof start_time === 'string' &&
    typeof url === 'string' &&
    (asked == null || typeof asked === 'string')
  );
}
