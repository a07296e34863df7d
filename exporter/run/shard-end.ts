import { reasonOf } from '../errors/store-errors.ts';
import type { ObjectStorage } from '../store/object-storage/object-storage.ts';
import { openStore } from '../store/run-store.ts';
import type { Rendezvous } from '../store/shards/rendezvous.ts';
import { shardsText } from '../store/shards/shard-names.ts';
import { mergeUploaded } from './merge-uploaded.ts';

export interface EndingShard {
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
export async function endShard(shard: EndingShard): Promise<boolean> {
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
