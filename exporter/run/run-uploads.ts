import { pause } from '../clock/pause.ts';
import { shellCommand } from '../../core/text/words.ts';
import { things } from '../../core/text/quantities.ts';
import { StorageError, reasonOf } from '../errors/expected-error.ts';
import { Backoff, type BackoffLimits } from '../http-client/backoff.ts';
import { isFolder } from '../files/exists.ts';
import type { ObjectStorage } from '../store/object-storage/object-storage.ts';
import { forgetUpload, pendingUploads, planUpload } from '../store/object-storage/upload-run.ts';
import { locationIn, storageUrl, type StorageAccess, type StorageLocation } from '../store/storage-location.ts';
import { RunStore } from '../store/run-store.ts';
import type { RunRequest } from './run-request.ts';
import type { MeetingShard, ShardMeeting } from './shard-meeting.ts';

/** Before an upload is tried again. */
const PAUSES: BackoffLimits = { min_seconds: 1, max_seconds: 30 };

/** What a command measures goes to object storage at its end, where it disturbs no measurement. */
export class RunUploads {
  readonly #location: StorageLocation;
  readonly #access: StorageAccess;
  readonly #timeoutSeconds: number;
  readonly #say: (line: string) => void;
  /** Runs directories in which runs were stored, and where their runs go. */
  readonly #directories = new Map<string, StorageLocation>();

  /** `timeoutSeconds`: how long an upload is tried again while the storage is away or busy. */
  constructor(location: StorageLocation, access: StorageAccess, timeoutSeconds: number, say: (line: string) => void) {
    this.#location = location;
    this.#access = access;
    this.#timeoutSeconds = timeoutSeconds;
    this.#say = say;
  }

  /** One request, so that a wrong bucket or key is found before anything is measured. Throws a `StorageError`. */
  async check(): Promise<void> {
    await this.#use(this.#location, (storage) => storage.check());
  }

  /** The request of a run that is to be uploaded. A shard goes to a folder of its own. */
  requested(request: RunRequest): RunRequest {
    const { shard, runId } = request;
    const location =
      shard === null || runId === null
        ? this.#location
        : locationIn(this.#location, `${runId}.shards`, String(shard.share.part));
    return { ...request, stored: (runsDirectory, storedId) => this.#plan(runsDirectory, storedId, location) };
  }

  /** Where the shards of a run meet. Throws a `StorageError`. */
  async rendezvous(shard: MeetingShard): Promise<ShardMeeting> {
    const { ObjectStorage: Storage } = await import('../store/object-storage/object-storage.ts');
    const { ShardMeeting: Meeting } = await import('./shard-meeting.ts');
    return new Meeting(await Storage.open(this.#location, this.#access), shard, this.#say);
  }

  async #plan(runsDirectory: string, runId: string, location: StorageLocation): Promise<void> {
    this.#directories.set(runsDirectory, location);
    await planUpload(runsDirectory, runId, location).catch((error: unknown) => {
      this.#say(`run ${runId} will not be uploaded: ${reasonOf(error)}; ${this.#remedy(runsDirectory, location)}`);
    });
  }

  /**
   * Uploads the runs, and those of earlier commands that could not be uploaded. False if one of them could not be, or
   * `signal` ended the wait for the storage.
   */
  async finish(signal: AbortSignal): Promise<boolean> {
    let isDone = true;
    for (const [directory, location] of this.#directories) {
      isDone = (await this.#upload(directory, location, signal)) && isDone;
    }
    return isDone;
  }

  async #upload(runsDirectory: string, location: StorageLocation, signal: AbortSignal): Promise<boolean> {
    const left = new Set<string>();
    const deadline_ms = performance.now() + this.#timeoutSeconds * 1000;
    try {
      for (const runId of await pendingUploads(runsDirectory, location)) left.add(runId);
      const backoff = new Backoff(Math.random, PAUSES);
      for (;;) {
        try {
          await this.#use(location, async (storage) => {
            for (const runId of left) if (await this.#uploadRun(storage, runsDirectory, runId)) left.delete(runId);
          });
          break;
        } catch (error) {
          const pause_ms = backoff.next(null) * 1000;
          const isAway = error instanceof StorageError && error.problem === 'unreachable';
          if (!isAway || signal.aborted || performance.now() + pause_ms > deadline_ms) throw error;
          const left_s = Math.round((deadline_ms - performance.now()) / 1000);
          this.#say(`${reasonOf(error)}; the upload is tried again, for up to ${left_s} s (--upload-timeout)`);
          // Ended by the user, who gets one more attempt.
          await pause(pause_ms, signal);
        }
      }
    } catch (error) {
      this.#say(reasonOf(error));
    }
    if (left.size > 0) this.#say(`${things(left.size, 'runs')} not uploaded; ${this.#remedy(runsDirectory, location)}`);
    return left.size === 0;
  }

  /** False if this run cannot be uploaded, but others may be. Throws what concerns all runs. */
  async #uploadRun(storage: ObjectStorage, runsDirectory: string, runId: string): Promise<boolean> {
    const store = new RunStore(runsDirectory);
    try {
      // It may have been deleted in the meantime.
      if (isFolder(store.pathOf(runId))) {
        const { packUploaded, uploadRun } = await import('../store/object-storage/upload-run.ts');
        const { state } = await uploadRun(storage, store, runId);
        // A shard is not a run that is shown.
        const isRun = storage.url === storageUrl(this.#location);
        if (isRun && state === 'uploaded') await packUploaded(storage, store, [runId]);
        this.#say(`uploaded to ${storage.url}/${runId}`);
      }
      await forgetUpload(runsDirectory, runId);
      return true;
    } catch (error) {
      if (error instanceof StorageError && error.problem !== 'damaged') throw error;
      this.#say(`run ${runId}: ${reasonOf(error)}`);
      return false;
    }
  }

  #remedy(runsDirectory: string, location: StorageLocation): string {
    const command = ['llmbench', 'runs', 'push', '--runs-dir', runsDirectory, '--store', storageUrl(location)];
    return `the next run with --upload tries again, or: ${shellCommand(command)}`;
  }

  async #use(location: StorageLocation, work: (storage: ObjectStorage) => Promise<void>): Promise<void> {
    const { ObjectStorage: Storage } = await import('../store/object-storage/object-storage.ts');
    await Storage.use(location, this.#access, work);
  }
}
