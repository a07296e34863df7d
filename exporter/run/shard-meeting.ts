import type { Share } from '../load/workers/share.ts';
import { reasonOf } from '../errors/store-errors.ts';
import type { ObjectStorage } from '../store/object-storage/object-storage.ts';
import { Rendezvous } from '../store/shards/rendezvous.ts';
import type { PerformedRun } from './perform-run.ts';
import { endShard } from './shard-end.ts';

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
