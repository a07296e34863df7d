import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceJson } from '../../files/durable-file.ts';
import { temporariesOf } from '../temporary-file.ts';
import {
  startHeartbeat,
  ownIdentity,
  isOwned,
  isSameProcess,
  type ProcessIdentity,
} from '../../files/process-identity.ts';
import { codeOf } from '../../errors/expected-error.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';

/** A `serve` that watches a runs directory. */
interface ServePresence extends ProcessIdentity {
  /** Where it listens: scheme, host and port. */
  readonly url: string;
  /** Time of the last request for the running runs, RFC 3339 in UTC; null if there was none. */
  readonly discovery_asked_at: string | null;
  /** The Grafana that shows these runs; null: not set. */
  readonly grafana_url: string | null;
}

/** A discovery interval of a minute, Prometheus' default, counts as active. */
const DISCOVERY_GOES_ON_MS = 90_000;
const MIN_BETWEEN_NOTES_MS = 5_000;

export interface AnnouncedServe {
  /** Records a request for the running runs. */
  discoveryAsked(): void;
  stop(): Promise<void>;
}

const presencePath = (runsDirectory: string): string => join(runsDirectory, '.serve.json');

/**
 * Announces to runs in this directory that a `serve` process lists them, until `stop`. The latest announcement wins.
 * Throws the file system's error.
 */
export async function announceServe(
  runsDirectory: string,
  url: string,
  grafanaUrl: string | null = null,
): Promise<AnnouncedServe> {
  const path = presencePath(runsDirectory);
  const own: ServePresence = { ...ownIdentity(), url, discovery_asked_at: null, grafana_url: grafanaUrl };
  const temporaries = temporariesOf(runsDirectory);
  await replaceJson(path, own, temporaries);
  const heartbeat = startHeartbeat(path);
  let notedAt_ms = 0;
  let noting: Promise<void> = Promise.resolve();
  return {
    discoveryAsked() {
      const now = new Date();
      if (now.getTime() - notedAt_ms < MIN_BETWEEN_NOTES_MS) return;
      notedAt_ms = now.getTime();
      // A failed write only makes short runs wait less; the next request tries again.
      noting = replaceJson(path, { ...own, discovery_asked_at: now.toISOString() }, temporaries).catch(() => undefined);
    },
    async stop() {
      heartbeat.stop();
      await noting;
      const now = await readPresence(path);
      if (now !== null && isSameProcess(now, own)) await rm(path, { force: true });
    },
  };
}

/** Whether the `serve` of this directory is requested running runs, so that a new run will be discovered. */
export async function isDiscovered(runsDirectory: string, now: Date = new Date()): Promise<boolean> {
  const asked = (await findServe(runsDirectory))?.discovery_asked_at ?? null;
  return asked !== null && now.getTime() - Date.parse(asked) < DISCOVERY_GOES_ON_MS;
}

/** The `serve` that watches this directory; null if there is none, or its process has ended. */
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

/** Null if the file does not exist or was not written by this program. */
async function readPresence(path: string): Promise<ServePresence | null> {
  let text: string;
  try {
    text = await readRegularFile(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    if (!isPresence(value)) return null;
    const { pid, start_time, url, discovery_asked_at, grafana_url } = value;
    return { pid, start_time, url, discovery_asked_at: discovery_asked_at ?? null, grafana_url: grafana_url ?? null };
  } catch {
    return null;
  }
}

function isPresence(value: unknown): value is ServePresence {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Partial<Record<keyof ServePresence, unknown>>;
  const { pid, start_time, url, discovery_asked_at: asked, grafana_url: grafana } = fields;
  return (
    typeof pid === 'number' &&
    typeof start_time === 'string' &&
    typeof url === 'string' &&
    (asked == null || typeof asked === 'string') &&
    (grafana == null || typeof grafana === 'string')
  );
}

/** Which process evaluates the scheduled scenarios of a runs directory: the first, until it ends. */
export class ScheduleLease {
  readonly #path: string;
  readonly #temporaries: ReturnType<typeof temporariesOf>;
  readonly #own = ownIdentity();
  #heartbeat: { stop(): void } | null = null;

  constructor(runsDirectory: string) {
    this.#path = join(runsDirectory, '.schedule.json');
    this.#temporaries = temporariesOf(runsDirectory);
  }

  /** Takes it if no running process has it. Throws the file system's error. */
  async isHeld(): Promise<boolean> {
    const owner = await this.#owner();
    if (owner !== null && isSameProcess(owner, this.#own)) return true;
    this.#heartbeat?.stop();
    this.#heartbeat = null;
    if (owner !== null && (await isOwned(owner, this.#path).catch(absent))) return false;
    await replaceJson(this.#path, this.#own, this.#temporaries);
    // Of two that take it at once the last has it.
    const taken = await this.#owner();
    if (taken === null || !isSameProcess(taken, this.#own)) return false;
    this.#heartbeat = startHeartbeat(this.#path);
    return true;
  }

  async release(): Promise<void> {
    if (this.#heartbeat === null) return;
    this.#heartbeat.stop();
    const owner = await this.#owner();
    if (owner !== null && isSameProcess(owner, this.#own)) await rm(this.#path, { force: true });
  }

  /** Null if no process has it, or the file was not written by this program. */
  async #owner(): Promise<ProcessIdentity | null> {
    try {
      const { pid, start_time } = JSON.parse(await readRegularFile(this.#path)) as Partial<ProcessIdentity>;
      return typeof pid === 'number' && typeof start_time === 'string' ? { pid, start_time } : null;
    } catch (error) {
      if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }
}

function absent(error: unknown): false {
  if (codeOf(error) === 'ENOENT') return false;
  throw error;
}
