import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { things } from '../../../core/text/quantities.ts';
import { isRunId, RESERVED_RUN_ID } from '../../../core/run/run-id.ts';
import { StorageError, codeOf, reasonOf } from '../../errors/expected-error.ts';
import { replaceFile, replaceJson } from '../../files/durable-file.ts';
import { makeDirectory } from '../../files/exists.ts';
import { readInBatches, readRegularFile } from '../../files/read-regular-file.ts';
import { discardFolder } from '../temporary-file.ts';
import { unfinishedDirectory } from '../run-paths.ts';
import type { RunStore } from '../run-store.ts';
import { downloadRun, readManifest } from './download-run.ts';
import { isSummaryFile } from './mirror-files.ts';
import type { ObjectStorage } from './object-storage.ts';
import { packOf, packRuns, PACKS_FOLDER, readPack, unpackRun } from './run-packs.ts';
import { MAX_LOG_BYTES } from './shared-log.ts';

/** The newest runs by name, which begins with the time; older ones are left out. */
const MAX_RUNS = 10_000;
/** Fewer runs are brought each by itself. */
const UNPACKED_FROM = 4;
/** A reason that lasts is repeated after this time. */
const SAID_AGAIN_MS = 300_000;
/** A run that is not complete is looked at each time for an hour, and every few minutes after that. */
const PATIENCE_MS = 3_600_000;
const RETRY_MS = 300_000;
const TAGS_FILE = '.entity-tags.json';
const LOG = new RegExp(`^${RESERVED_RUN_ID}/(?!\\.)[0-9A-Za-z_.%~-]{1,255}/(baseline|verdicts)\\.jsonl$`);

/** Since when the storage cannot be read, and why. */
export interface StorageFailure {
  readonly reason: string;
  readonly since: Date;
}

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
  /** Tags of packs that have been read. */
  readonly #packs = new Map<string, string>();
  /** Whether this process may write packs; unknown is true. */
  #mayPack = true;
  #refreshing: Promise<Refreshed> | null = null;
  #failure: StorageFailure | null = null;
  #isFilling = false;

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

  /** Why the storage could not be read at the last look while it is followed; null if it could. */
  get failure(): StorageFailure | null {
    return this.#failure;
  }

  /** Whether it is followed, and its first look has not ended. */
  get isFilling(): boolean {
    return this.#isFilling;
  }

  follow(intervalMs: number, say: (line: string) => void): { stop(): void } {
    const said = new Map<string, number>();
    const sayAtTimes = (line: string): void => {
      const now = performance.now();
      if (now - (said.get(line) ?? -Infinity) < SAID_AGAIN_MS) return;
      said.set(line, now);
      say(line);
    };
    const watch = new StorageWatch(this.#storage);
    let timer: NodeJS.Timeout | null = null;
    let stopped = false;
    const look = async (): Promise<void> => {
      try {
        const { problems } = await this.#look(watch);
        this.#failure = null;
        for (const problem of problems) sayAtTimes(problem);
      } catch (error) {
        this.#failure = { reason: reasonOf(error), since: this.#failure?.since ?? new Date() };
        sayAtTimes(`${reasonOf(error)}; the runs in the cache are shown`);
      }
      this.#isFilling = false;
      if (!stopped) timer = setTimeout(() => void look(), intervalMs);
    };
    this.#isFilling = true;
    void look();
    return {
      stop: () => {
        stopped = true;
        if (timer !== null) clearTimeout(timer);
      },
    };
  }

  /** Everything at first, then what a look of two listings shows. Runs that lacked in their packs are added to them. */
  async #look(watch: StorageWatch): Promise<Refreshed> {
    if (watch.isDue) {
      const { names, added, problems, direct } = await this.#refreshAll();
      watch.sawAll(names.length > MAX_RUNS);
      await this.#pack(direct, new Set(names));
      return { added, problems };
    }
    const here = new Set(await this.#store.names());
    const packed = await this.#namesIn(await watch.changedPacks(this.#packs), watch.hasOlder ? least(here) : '');
    const wanted = new Set([...this.#waiting.keys(), ...packed]);
    const part = await watch.somePart();
    if (part === 'logs') await this.#refreshLogs();
    else {
      for (const runId of part.names) wanted.add(runId);
      for (const runId of here) if (part.lacks(runId)) await this.#remove(runId);
    }
    const known = new Set(this.#waiting.keys());
    // Each by itself: what a pack has may have been deleted in the storage.
    const { added, problems, direct } = await this.#bringDirectly(
      [...wanted].filter((runId) => this.#isMissing(runId, here)),
    );
    for (const runId of packed) if (!known.has(runId)) this.#waiting.delete(runId);
    await this.#pack(
      direct.filter((runId) => !packed.has(runId)),
      null,
    );
    return { added, problems };
  }

  /** The runs in these packs that come after a name. */
  async #namesIn(packs: ReadonlyMap<string, string>, after: string): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    for (const [name, tag] of packs) {
      const pack = await readPack(this.#storage, name);
      for (const runId of pack?.runs.keys() ?? []) if (isRunId(runId) && runId > after) names.add(runId);
      this.#packs.set(name, tag);
    }
    return names;
  }

  #isMissing(runId: string, here: ReadonlySet<string>): boolean {
    return !here.has(runId) && (this.#waiting.get(runId)?.again ?? 0) <= Date.now();
  }

  async #refresh(): Promise<Refreshed> {
    const { added, problems } = await this.#refreshAll();
    return { added, problems };
  }

  async #refreshAll(): Promise<Brought & { readonly names: readonly string[] }> {
    const found = (await this.#storage.folders()).filter(isRunId).sort().reverse();
    const newest = found.slice(0, MAX_RUNS);
    const wanted = new Set(newest);
    const here = new Set(await this.#store.names());
    for (const runId of here) if (!wanted.has(runId)) await this.#remove(runId);
    for (const runId of this.#waiting.keys()) if (!wanted.has(runId)) this.#waiting.delete(runId);
    await this.#refreshLogs();
    const { added, problems, direct } = await this.#bring(newest.filter((runId) => this.#isMissing(runId, here)));
    const left = found.length - newest.length;
    const older =
      left === 0
        ? []
        : [`${things(left, 'runs')} of ${this.#storage.url} are left out: the newest ${MAX_RUNS} are shown`];
    return { names: found, added, problems: [...problems, ...older], direct };
  }

  /** Brings runs that are in the storage into the cache: many from their packs, as far as they are there. */
  async #bring(missing: readonly string[]): Promise<Brought> {
    const packed = missing.length < UNPACKED_FROM ? new Set<string>() : await this.#unpack(missing);
    const { added, problems, direct } = await this.#bringDirectly(missing.filter((runId) => !packed.has(runId)));
    return { added: packed.size + added, problems, direct };
  }

  async #bringDirectly(missing: readonly string[]): Promise<Brought> {
    const responses = await readInBatches(missing, (runId) => this.#add(runId));
    const direct = missing.filter((_, i) => responses[i] === null);
    const problems = responses.filter((response) => response !== null && response !== '').map(String);
    return { added: direct.length, problems, direct };
  }

  /** Which of them were in a pack as their manifest has them, and are in the cache now. */
  async #unpack(missing: readonly string[]): Promise<ReadonlySet<string>> {
    const unpacked = new Set<string>();
    const tags = await this.#storage.entityTags(PACKS_FOLDER);
    await makeDirectory(unfinishedDirectory(this.#store.directory));
    for (const [name, ids] of Map.groupBy(missing, packOf)) {
      const tag = tags.get(name);
      if (tag === undefined) continue;
      const pack = await readPack(this.#storage, name);
      this.#packs.set(name, tag);
      await readInBatches(ids, async (runId) => {
        const packed = pack?.runs.get(runId);
        if (packed !== undefined && (await unpackRun(this.#store, runId, packed))) unpacked.add(runId);
      });
    }
    return unpacked;
  }

  /** Adds runs to their packs; who may not write, or finds a server without conditions, reads them each by itself. */
  async #pack(runIds: readonly string[], present: ReadonlySet<string> | null): Promise<void> {
    if (!this.#mayPack) return;
    try {
      await packRuns(this.#storage, this.#store, runIds, present);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#mayPack = error.problem === 'unreachable';
    }
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

/** What a look of the cache found. */
interface Brought extends Refreshed {
  /** Runs that are new in the cache and came from their own objects. */
  readonly direct: readonly string[];
}

/** The first of the names in their order; '' without any. */
const least = (names: ReadonlySet<string>): string => [...names].sort()[0] ?? '';

/** Where not all runs are shown, all are listed again after so many looks. */
const LOOKS_UNTIL_ALL = 20;

/** Some of the runs in the storage, in its order. */
interface RunsPart {
  readonly names: readonly string[];
  /** Whether a run would be among them, and is not. */
  readonly lacks: (runId: string) => boolean;
}

/** Looks at a storage with two listings each time: its packs, which change with each upload, and a part of everything else. */
class StorageWatch {
  readonly #storage: ObjectStorage;
  /** Looks until all runs are listed at once. */
  #looks = 0;
  #hasOlder = false;
  #isLogsTurn = true;
  #next: string | null = null;
  /** The last folder of the part before. */
  #after = '';

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** Whether all runs must be listed. */
  get isDue(): boolean {
    return this.#looks === 0;
  }

  /** Whether there are runs beyond those that are shown. */
  get hasOlder(): boolean {
    return this.#hasOlder;
  }

  sawAll(hasOlder: boolean): void {
    this.#hasOlder = hasOlder;
    this.#looks = LOOKS_UNTIL_ALL;
  }

  /** The packs whose tags differ from those that were read. */
  async changedPacks(read: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    if (this.#hasOlder) this.#looks -= 1;
    const tags = await this.#storage.entityTags(PACKS_FOLDER);
    return new Map([...tags].filter(([name, tag]) => read.get(name) !== tag));
  }

  /** By turns the logs and the next folders. */
  async somePart(): Promise<'logs' | RunsPart> {
    this.#isLogsTurn = !this.#isLogsTurn || this.#hasOlder;
    if (this.#isLogsTurn) return 'logs';
    const { names, next } = await this.#storage.someFolders(this.#next);
    const after = this.#after;
    const last = next === null ? null : `${names.at(-1) ?? ''}/`;
    this.#next = next;
    this.#after = last ?? '';
    const there = new Set(names);
    return {
      names: names.filter(isRunId),
      lacks: (runId) => {
        const place = `${runId}/`;
        return place > after && (last === null || place <= last) && !there.has(runId);
      },
    };
  }
}
