import type { ResponseHead } from './response-head.ts';

/**
 * When every head of a server is different (an id in each, for example), caching is useless: it stops after this many.
 */
const LEARNED_WITHOUT_USE = 32;

/**
 * The last head that was read, so that the same bytes need no second parse: servers repeat a head for at least a
 * second.
 */
export class KnownHead {
  #bytes: Uint8Array | null = null;
  #head: ResponseHead | null = null;
  #learnedSinceUse = 0;

  /** Length of the head in bytes; 0 while none is known. */
  get length(): number {
    return this.#bytes?.length ?? 0;
  }

  /** The head when bytes[from, length) begins with it; else null. */
  recognize(bytes: Buffer, from: number, length: number): ResponseHead | null {
    const known = this.#bytes;
    if (known === null || length - from < known.length) return null;
    if (bytes.compare(known, 0, known.length, from, from + known.length) !== 0) return null;
    this.#learnedSinceUse = 0;
    return this.#head;
  }

  /** Stores a head that was read from bytes[from, end), all of it. */
  learn(bytes: Buffer, from: number, end: number, head: ResponseHead): void {
    if (this.#learnedSinceUse >= LEARNED_WITHOUT_USE) return;
    this.#learnedSinceUse++;
    this.#bytes = new Uint8Array(bytes.subarray(from, end));
    this.#head = head;
  }
}
