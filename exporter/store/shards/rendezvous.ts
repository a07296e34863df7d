import { ExpectedError, StorageError, reasonOf } from '../../errors/expected-error.ts';
import { randomUUID } from 'node:crypto';
import { ServerClock } from '../../clock/monotonic-clock.ts';
import { pause } from '../../clock/pause.ts';
import type { ObjectStorage } from '../object-storage/object-storage.ts';
import { requireConditions } from '../object-storage/shared-log.ts';
import {
  MERGE,
  MAX_BYTES,
  parseClaim,
  parseDecision,
  rendezvousFolder,
  signName,
  START,
  type MergeClaim,
  type ShardState,
  type StartDecision,
  parseSign,
  partOfSign,
  SIGNS,
  type ShardSign,
} from './rendezvous-objects.ts';
import { shardsText } from '../run-paths.ts';
import { readInBatches } from '../../files/read-regular-file.ts';

export interface RendezvousParts {
  /** The location that the run is uploaded to. */
  readonly storage: ObjectStorage;
  readonly runId: string;
  readonly part: number;
  readonly parts: number;
  /** How long to wait for the other shards to be ready. */
  readonly startTimeoutSeconds: number;
  /** Without a sign of life for this time a shard is lost. */
  readonly lostAfterSeconds: number;
}

/** The first one decides the start, and reads the servers' metrics. */
const FIRST = 0;
const POLL_MS = 500;
const SIGNS_UNTIL_LOST = 4;
/** From the decision to the start: all have read it by then, and prepared their first requests. */
const LEAD_MS = 5_000;
/** Responses that the storage's clock is read from, spread over more than its resolution of a second. */
const CLOCK_READINGS = 8;
const CLOCK_SPACING_MS = 140;

/**
 * How the shards of a run find each other through object storage: each gives signs of life, the first decides the start
 * when all are ready, and one of them merges what all have uploaded. Only conditional writes decide, and instants are
 * in the storage's time, so that neither a common clock nor another service is required.
 */
export class Rendezvous {
  readonly #storage: ObjectStorage;
  readonly #parts: RendezvousParts;
  readonly #watch: ShardWatch;
  readonly #clock = new ServerClock();
  readonly #instance = randomUUID();
  #state: ShardState = 'preparing';
  #fingerprint: string | null = null;
  #signs = 0;
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> = Promise.resolve();

  constructor(parts: RendezvousParts) {
    this.#parts = parts;
    this.#storage = parts.storage.inside(...rendezvousFolder(parts.runId));
    this.#watch = new ShardWatch(this.#storage, parts.parts, parts.lostAfterSeconds * 1000);
  }

  /** What this machine's clock lacks to be the storage's, as far as it is certain: see `ServerClock`. */
  get correction_ms(): number {
    return this.#clock.correction_ms;
  }

  /** Gives the first sign, and reads the storage's clock. Throws a `StorageError`, or an `ExpectedError` if the run has begun. */
  async join(): Promise<void> {
    await requireConditions(this.#parts.storage);
    const decision = await this.#decision();
    if (decision !== null) {
      throw new ExpectedError(
        'no_start',
        `the shards of run ${this.#parts.runId} have begun without this one: every run requires its own --run-id`,
      );
    }
    await this.#give('preparing');
    const every_ms = (this.#parts.lostAfterSeconds * 1000) / SIGNS_UNTIL_LOST;
    // A sign that cannot be written is followed by another.
    this.#timer = setInterval(() => void this.#give(this.#state).catch(() => undefined), every_ms).unref();
    this.#storage.onDate((...times) => this.#clock.observe(...times));
    for (let i = 0; i < CLOCK_READINGS; i++) {
      await this.#watch.look();
      await pause(CLOCK_SPACING_MS);
    }
  }

  /**
   * This shard is ready to measure. The first one waits until all are. Returns early when `stop` is aborted. Throws a
   * `ExpectedError`.
   */
  async gather(fingerprint: string, stop: AbortSignal): Promise<void> {
    this.#fingerprint = fingerprint;
    await this.#orNoStart(() => this.#give('ready'));
    if (this.#parts.part !== FIRST) return;
    await this.#poll(this.#parts.startTimeoutSeconds, stop, async () => {
      await this.#watch.look();
      await this.#refuseFailure();
      const absent = this.#watch.which((sign) => sign?.state !== 'ready');
      const lost = absent.filter((part) => this.#isGone(part));
      if (lost.length > 0) throw this.#noStart(`${shardsText(lost)} ended before the start`);
      const other = this.#watch.which((sign) => sign?.state === 'ready' && sign.fingerprint !== fingerprint);
      if (other.length > 0)
        throw this.#noStart(`${shardsText(other)} has another plan than shard 0: give all the same options`);
      return absent.length === 0;
    });
  }

  /** When all begin to measure, in milliseconds of the storage's time; null when `stop` is aborted. Throws an `ExpectedError`. */
  async start_ms(stop: AbortSignal): Promise<number | null> {
    if (this.#parts.part === FIRST && !stop.aborted) await this.#orNoStart(() => this.#decide());
    let decision: StartDecision | null = null;
    await this.#poll(this.#parts.startTimeoutSeconds, stop, async () => {
      // In this order: a shard that fails writes the reason before its last sign.
      await this.#watch.look();
      decision = await this.#decision();
      if (decision !== null) return true;
      if (this.#isGone(FIRST)) throw this.#noStart('shard 0, which decides the start, has ended');
      return false;
    });
    const agreed = decision as StartDecision | null;
    if (agreed === null) return null;
    if ('failure' in agreed) throw new ExpectedError('no_start', agreed.failure);
    if (!agreed.instances.includes(this.#instance)) {
      throw new ExpectedError(
        'no_start',
        `the run began with another process as shard ${this.#parts.part}: two have this number`,
      );
    }
    return Date.parse(agreed.start);
  }

  /** The start is decided against, unless it is decided already: the others do not have to wait. Never throws. */
  async callOff(reason: string): Promise<void> {
    const failure = `shard ${this.#parts.part} of ${this.#parts.parts}: ${reason}`;
    await this.#storage.writeText(START, `${JSON.stringify({ failure })}\n`, { absent: true }).catch(() => undefined);
  }

  /** Reports to the others that this shard is in the storage, or that nothing of it will be. Throws a `StorageError`. */
  async ended(state: 'uploaded' | 'failed'): Promise<void> {
    this.#stopSigns();
    await this.#sending;
    await this.#give(state);
  }

  /**
   * Waits for the other shards as long as they live. Returns the numbers of those that are lost or failed, null when
   * `stop` is aborted. One that never gave a sign is waited for like one that stopped giving any. Throws a `StorageError`.
   */
  async othersEnded(stop: AbortSignal): Promise<number[] | null> {
    const begin_ms = performance.now();
    while (!stop.aborted) {
      await this.#watch.look();
      const open = this.#watch.which((sign) => sign?.state !== 'uploaded');
      const missing = open.filter((part) => this.#isGone(part) || this.#neverCame(part, begin_ms));
      if (missing.length === open.length) return missing;
      await pause(POLL_MS, stop);
    }
    return null;
  }

  /** Null: this shard is the one that merges; otherwise what another one claimed. Throws a `StorageError`. */
  async claimMerge(missing: readonly number[]): Promise<MergeClaim | null> {
    const claim: MergeClaim = { shard: String(this.#parts.part), missing: missing.map(String) };
    if (await this.#storage.writeText(MERGE, `${JSON.stringify(claim)}\n`, { absent: true })) return null;
    const other = (await this.claim()) ?? claim;
    // The response to a write may have been lost.
    return other.shard === claim.shard ? null : other;
  }

  /** The claim of a shard to merge the run; null: there is none yet. Throws a `StorageError`. */
  async claim(): Promise<MergeClaim | null> {
    const found = await this.#storage.readText(MERGE, MAX_BYTES);
    return found && parseClaim(found.text);
  }

  close(): void {
    this.#stopSigns();
  }

  #stopSigns(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #give(state: ShardState): Promise<void> {
    this.#state = state;
    // One after the other, so that an old state never replaces a new one.
    const written = this.#sending.then(async () => {
      const sign = { instance: this.#instance, state, fingerprint: this.#fingerprint, sign: ++this.#signs };
      await this.#storage.writeText(signName(this.#parts.part), `${JSON.stringify(sign)}\n`, null);
    });
    this.#sending = written.catch(() => undefined);
    return written;
  }

  async #decide(): Promise<void> {
    const start = new Date(Date.now() + this.correction_ms + LEAD_MS).toISOString();
    const instances = this.#watch.which(() => true).map((part) => this.#watch.signOf(part)?.instance ?? '');
    await this.#storage.writeText(START, `${JSON.stringify({ start, instances })}\n`, { absent: true });
  }

  async #decision(): Promise<StartDecision | null> {
    const found = await this.#storage.readText(START, MAX_BYTES);
    if (found === null) return null;
    return parseDecision(found.text) ?? { failure: `${this.#storage.url}/${START} is damaged` };
  }

  async #refuseFailure(): Promise<void> {
    const decision = await this.#decision();
    if (decision !== null && 'failure' in decision) throw new ExpectedError('no_start', decision.failure);
  }

  #isGone(part: number): boolean {
    return this.#watch.isLost(part) || this.#watch.signOf(part)?.state === 'failed';
  }

  #neverCame(part: number, since_ms: number): boolean {
    const waited_ms = performance.now() - since_ms;
    return this.#watch.signOf(part) === null && waited_ms > this.#parts.lostAfterSeconds * 1000;
  }

  /** Asks again and again until `isDone`, at most for the time; a storage that cannot be reached for a moment is no failure. */
  async #poll(mostSeconds: number, stop: AbortSignal, isDone: () => Promise<boolean>): Promise<void> {
    const until_ms = performance.now() + mostSeconds * 1000;
    while (!stop.aborted) {
      if (await this.#orNoStart(() => isDone().catch(falseIfUnreachable))) return;
      if (performance.now() > until_ms) throw this.#noStart(this.#overdueText(mostSeconds));
      await pause(POLL_MS, stop);
    }
  }

  #overdueText(seconds: number): string {
    const absent = this.#watch.which((sign) => sign === null);
    const late = this.#watch.which((sign) => sign?.state === 'preparing');
    const what = [
      ...(absent.length === 0 ? [] : [`${shardsText(absent)} did not start`]),
      ...(late.length === 0 ? [] : [`${shardsText(late)} did not finish the warm-up`]),
    ];
    const reason = what.length === 0 ? 'shard 0 did not decide the start' : what.join(', ');
    return `${reason} within ${seconds} s (--start-timeout)`;
  }

  async #orNoStart<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StorageError) throw this.#noStart(reasonOf(error));
      throw error;
    }
  }

  #noStart(reason: string): ExpectedError {
    return new ExpectedError('no_start', `the ${this.#parts.parts} shards did not agree on a start: ${reason}`);
  }
}

function falseIfUnreachable(error: unknown): boolean {
  if (error instanceof StorageError && error.problem === 'unreachable') return false;
  throw error;
}

interface Seen {
  readonly etag: string;
  readonly sign: ShardSign | null;
  /** When the object was last seen to have changed, by this machine's monotonic clock. */
  readonly changed_ms: number;
}

/** The signs of life of a run's shards, as one of them sees them: no clocks of different machines are compared. */
class ShardWatch {
  readonly #storage: Pick<ObjectStorage, 'entityTags' | 'readText'>;
  readonly #parts: number;
  readonly #lostAfter_ms: number;
  readonly #seen = new Map<number, Seen>();

  /** A shard whose sign has not changed for `lostAfter_ms` is lost. */
  constructor(storage: Pick<ObjectStorage, 'entityTags' | 'readText'>, parts: number, lostAfter_ms: number) {
    this.#storage = storage;
    this.#parts = parts;
    this.#lostAfter_ms = lostAfter_ms;
  }

  /** Reads the signs that have changed. Throws a `StorageError`. */
  async look(): Promise<void> {
    const tags = [...(await this.#storage.entityTags(SIGNS))].map(([name, etag]) => ({
      ...{ name, etag },
      part: partOfSign(name),
    }));
    const changed = tags.filter(({ part, etag }) => part < this.#parts && this.#seen.get(part)?.etag !== etag);
    await readInBatches(changed, async ({ name, part }) => {
      const found = await this.#storage.readText(name, MAX_BYTES);
      if (found === null) return;
      this.#seen.set(part, { etag: found.etag, sign: parseSign(found.text), changed_ms: performance.now() });
    });
  }

  /** Null: it has never given a sign. */
  signOf(part: number): ShardSign | null {
    return this.#seen.get(part)?.sign ?? null;
  }

  /** Whether it has given signs and gives none any more. One that has ended is not lost. */
  isLost(part: number): boolean {
    const seen = this.#seen.get(part);
    if (seen === undefined || seen.sign?.state === 'uploaded' || seen.sign?.state === 'failed') return false;
    return performance.now() - seen.changed_ms > this.#lostAfter_ms;
  }

  /** The numbers of the shards for which something holds. */
  which(holds: (sign: ShardSign | null, part: number) => boolean): number[] {
    return Array.from({ length: this.#parts }, (_, part) => part).filter((part) => holds(this.signOf(part), part));
  }
}
