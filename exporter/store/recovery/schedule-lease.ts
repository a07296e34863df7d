import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../errors/expected-error.ts';
import { replaceJson } from '../../files/durable-file.ts';
import {
  isOwned,
  isSameProcess,
  ownIdentity,
  startHeartbeat,
  type ProcessIdentity,
} from '../../files/process-identity.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';
import { temporariesOf } from '../temporary-file.ts';

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
