import { RunExistsError, reasonOf } from '../errors/expected-error.ts';
import type { Share } from '../load/workers/share.ts';
import type { ObjectStorage } from '../store/object-storage/object-storage.ts';
import { packUploaded, uploadRun } from '../store/object-storage/upload-run.ts';
import { openStore, type RunStore } from '../store/run-store.ts';
import { mergeShards, type MergedRun } from '../store/shards/merge-shards.ts';
import { Rendezvous } from '../store/shards/rendezvous.ts';
import { shardsText } from '../store/run-paths.ts';
import { downloadShards } from '../store/shards/rendezvous-objects.ts';
import type { PerformedRun } from './perform-run.ts';
import { writeRunFiles } from './run-files.ts';

/**
 * Merges the shards of a run that were uploaded to object storage, in a runs directory, and uploads the whole run. Merging
 * the same shards again gives the same run, so that a repetition after a failure is harmless. Throws an `ExpectedError`, a
 * `StorageError` and the errors of the runs directory.
 */
export async function mergeUploaded(
  storage: ObjectStorage,
  store: RunStore,
  runId: string,
  allowsMissing: boolean,
): Promise<MergedRun> {
  const isMerged = (await store.names()).includes(runId);
  if (!isMerged) await downloadShards(storage, store.directory, runId);
  const merged = isMerged ? await mergedBefore(store, runId) : await mergeShards(store, runId, allowsMissing);
  const notes = isMerged ? [] : await writeRunFiles(store, runId, []);
  await uploadRun(storage, store, runId);
  await packUploaded(storage, store, [runId]);
  return { ...merged, notes: [...merged.notes, ...notes] };
}

/** A run that was merged, and whose upload may have been interrupted. */
async function mergedBefore(store: RunStore, runId: string): Promise<MergedRun> {
  const { shards } = await store.readRun(runId);
  if (shards === undefined) throw new RunExistsError(runId, store.directory);
  return { result: await store.readResult(runId), path: store.pathOf(runId), shards, notes: [] };
}

/** A shard whose run is uploaded. */
export interface MeetingShard {
  readonly runId: string;
  readonly share: Share;
  /** The runs directory that the whole run is merged in. */
  readonly runsDirectory: string;
  readonly startTimeoutSeconds: number;
  readonly lostAfterSeconds: number;
}

/** A shard's dealings with the other machines, from its start to the merged run. */
export class ShardMeeting {
  readonly rendezvous: Rendezvous;
  readonly #storage: ObjectStorage;
  readonly #shard: MeetingShard;
  readonly #say: (line: string) => void;

  constructor(storage: ObjectStorage, shard: MeetingShard, say: (line: string) => void) {
    const { part, parts } = shard.share;
    this.#storage = storage;
    this.#shard = shard;
    this.#say = say;
    this.rendezvous = new Rendezvous({ ...shard, part, parts, storage });
  }

  /** The run did not begin: the others are notified. Never throws. */
  async leave(reason: string): Promise<void> {
    await this.rendezvous.callOff(reason);
    await this.#tell('failed');
    this.#close();
  }

  /**
   * Waits for the others and merges the run with them. `performed`: what this shard measured; null if nothing. False if
   * something is missing in object storage.
   */
  async end(performed: PerformedRun | null, isUploaded: boolean, stop: AbortSignal): Promise<boolean> {
    try {
      // Without a start there is nothing to merge.
      const hasMeasured = performed !== null && performed.result.window.start !== null;
      if (!hasMeasured) await this.rendezvous.callOff(performed?.failure ?? 'it measured nothing');
      await this.#tell(isUploaded && hasMeasured ? 'uploaded' : 'failed');
      if (!isUploaded || !hasMeasured) return isUploaded;
      const { runId, share, runsDirectory } = this.#shard;
      const isWhole = await endShard({
        ...{ rendezvous: this.rendezvous, storage: this.#storage, say: this.#say, stop },
        ...{ runId, parts: share.parts, runsDirectory },
      });
      return isWhole;
    } finally {
      this.#close();
    }
  }

  async #tell(state: 'uploaded' | 'failed'): Promise<void> {
    await this.rendezvous.ended(state).catch((error: unknown) => this.#say(reasonOf(error)));
  }

  #close(): void {
    this.rendezvous.close();
    this.#storage.close();
  }
}

interface EndingShard {
  readonly rendezvous: Rendezvous;
  /** The location of the whole run. */
  readonly storage: ObjectStorage;
  readonly runId: string;
  readonly parts: number;
  /** The runs directory that the whole run is merged in. */
  readonly runsDirectory: string;
  /** Aborted when the user wants to wait no longer. */
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

/**
 * What a shard does after its upload: it waits for the others as long as they give signs of life, then one of them
 * merges the run, and the others leave. False if the run is incomplete or could not be merged.
 */
async function endShard(shard: EndingShard): Promise<boolean> {
  const { rendezvous, runId, parts, stop, say } = shard;
  const remedy = `llmbench merge ${runId} --store ${shard.storage.url}`;
  try {
    say('waiting for the other shards, to merge the run');
    const missing = await rendezvous.othersEnded(stop);
    if (missing === null) {
      say(`not merged: interrupted; when all shards are uploaded, run: ${remedy}`);
      return false;
    }
    const other = await rendezvous.claimMerge(missing);
    if (other !== null) {
      const without = other.missing.length === 0 ? '' : ` without ${shardsText(other.missing)} of ${parts}`;
      say(`shard ${other.shard} merges run ${runId}${without}`);
      return other.missing.length === 0;
    }
    return await merge(shard);
  } catch (error) {
    say(`run ${runId} was not merged: ${reasonOf(error)}; to merge it, run: ${remedy}`);
    return false;
  }
}

async function merge({ storage, runId, parts, runsDirectory, say }: EndingShard): Promise<boolean> {
  const { store } = await openStore(runsDirectory);
  const { result, shards, notes } = await mergeUploaded(storage, store, runId, true);
  for (const note of notes) say(note);
  if (shards.missing.length > 0) {
    say(
      `run ${runId} is INCOMPLETE: ${shardsText(shards.missing)} of ${parts} did not end; merged to ${storage.url}/${runId}`,
    );
    return false;
  }
  say(`merged ${parts} shards to ${storage.url}/${runId}`);
  return result.status === 'completed';
}
