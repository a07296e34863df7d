import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { things } from '../../../core/text/things.ts';
import { isRunId, RESERVED_RUN_ID } from '../../../core/run/run-id.ts';
import { StorageError } from '../../errors/storage-errors.ts';
import { codeOf, reasonOf } from '../../errors/store-errors.ts';
import { replaceFile, replaceJson } from '../../files/durable-file.ts';
import { makeDirectory } from '../../files/make-directory.ts';
import { readInBatches } from '../../files/read-in-batches.ts';
import { discardFolder } from '../discard-folder.ts';
import type { RunStore } from '../run-store.ts';
import { downloadRun } from './download-run.ts';
import { isSummaryFile } from './mirror-files.ts';
import type { ObjectStorage } from './object-storage.ts';
import { readManifest } from './run-manifest.ts';
import { MAX_LOG_BYTES } from './shared-log.ts';
import { readRegularFile } from '../../files/read-regular-file.ts';

/** The newest runs by name, which begins with the time; older ones are left out. */
const MAX_RUNS = 10_000;
/** A run that is not complete is looked at each time for an hour, and every few minutes after that. */
const PATIENCE_MS = 3_600_000;
const RETRY_MS = 300_000;
const TAGS_FILE = '.entity-tags.json';
const LOG = new RegExp(`^${RESERVED_RUN_ID}/(?!\\.)[0-9A-Za-z_.%~-]{1,255}/(baseline|verdicts)\\.jsonl$`);

export interface Refreshed {
  /** Runs that are new in the cache. */
  readonly added: number;
  /** One line for each run that is not shown, and if the newest runs only are. */
  readonly problems: readonly string[];
}

/** Brings what is in object storage into a runs directory. */
export class Mirroring {
  readonly #storage: ObjectStorage;
  readonly #store: RunStore;
  /** Runs that are incomplete or damaged: since when, and when to look again. */
  readonly #waiting = new Map<string, { readonly since: number; readonly again: number }>();
  #refreshing: Promise<Refreshed> | null = null;

  constructor(storage: ObjectStorage, store: RunStore) {
    this.#storage = storage;
    this.#store = store;
  }

  refresh(): Promise<Refreshed> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  follow(intervalMs: number, say: (line: string) => void): { stop(): void } {
    const said = new Set<string>();
    const sayOnce = (line: string): void => {
      if (!said.has(line)) say(line);
      said.add(line);
    };
    let timer: NodeJS.Timeout | null = null;
    let stopped = false;
    const look = async (): Promise<void> => {
      try {
        for (const problem of (await this.refresh()).problems) sayOnce(problem);
      } catch (error) {
        sayOnce(`${reasonOf(error)}; the runs in the cache are shown`);
      }
      if (!stopped) timer = setTimeout(() => void look(), intervalMs);
    };
    void look();
    return {
      stop: () => {
        stopped = true;
        if (timer !== null) clearTimeout(timer);
      },
    };
  }

  async #refresh(): Promise<Refreshed> {
    const found = (await this.#storage.folders()).filter(isRunId).sort().reverse();
    const newest = found.slice(0, MAX_RUNS);
    const wanted = new Set(newest);
    const here = new Set(await this.#store.names());
    for (const runId of here) if (!wanted.has(runId)) await this.#remove(runId);
    for (const runId of this.#waiting.keys()) if (!wanted.has(runId)) this.#waiting.delete(runId);
    const now = Date.now();
    const missing = newest.filter((runId) => !here.has(runId) && (this.#waiting.get(runId)?.again ?? 0) <= now);
    await this.#refreshLogs();
    const responses = await readInBatches(missing, (runId) => this.#add(runId));
    const left = found.length - newest.length;
    return {
      added: responses.filter((response) => response === null).length,
      problems: [
        ...responses.filter((response) => response !== null && response !== ''),
        ...(left === 0
          ? []
          : [`${things(left, 'runs')} of ${this.#storage.url} are left out: the newest ${MAX_RUNS} are shown`]),
      ].map(String),
    };
  }

  /** Null if it is in the cache now, '' if it is incomplete, or why it is not shown. */
  async #add(runId: string): Promise<string | null> {
    const now = Date.now();
    const since = this.#waiting.get(runId)?.since ?? now;
    try {
      const manifest = await readManifest(this.#storage, runId);
      if (manifest !== null) {
        await downloadRun(this.#storage, this.#store, runId, manifest, isSummaryFile);
        this.#waiting.delete(runId);
        return null;
      }
      this.#waiting.set(runId, { since, again: now - since < PATIENCE_MS ? 0 : now + RETRY_MS });
      return '';
    } catch (error) {
      if (!(error instanceof StorageError) || error.problem !== 'damaged') throw error;
      this.#waiting.set(runId, { since, again: now + RETRY_MS });
      return `run ${runId} is not shown: ${error.message}`;
    }
  }

  async #remove(runId: string): Promise<void> {
    try {
      await discardFolder(this.#store.directory, this.#store.pathOf(runId), runId);
    } catch (error) {
      // Another process was faster.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }

  /** The logs of the scenarios that have changed. */
  async #refreshLogs(): Promise<void> {
    const path = join(this.#store.directory, TAGS_FILE);
    const known = await knownTags(path);
    const found = [...(await this.#storage.entityTags(RESERVED_RUN_ID))].filter(([name]) => LOG.test(name));
    const names = new Set(found.map(([name]) => name));
    const changed = found.filter(([name, tag]) => known.get(name) !== tag);
    const gone = [...known.keys()].filter((name) => !names.has(name) && LOG.test(name));
    if (changed.length === 0 && gone.length === 0) return;
    for (const name of gone) {
      await rm(join(this.#store.directory, name), { force: true });
      known.delete(name);
    }
    await readInBatches(changed, async ([name]) => {
      const log = await this.#storage.readText(name, MAX_LOG_BYTES);
      if (log === null) return;
      const local = join(this.#store.directory, name);
      await makeDirectory(dirname(local));
      await replaceFile(local, log.text, this.#store.temporaryFor);
      known.set(name, log.etag);
    });
    await replaceJson(path, Object.fromEntries(known), this.#store.temporaryFor);
  }
}

/** The entity tags of the logs in the cache; empty if the file is missing or damaged. */
async function knownTags(path: string): Promise<Map<string, string>> {
  try {
    return new Map(Object.entries(JSON.parse(await readRegularFile(path)) as Record<string, string>));
  } catch {
    return new Map();
  }
}
