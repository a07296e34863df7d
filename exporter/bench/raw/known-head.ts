import type { ResponseHead } from './response-head.ts';

/** A server whose every head is another (an id in each, say) teaches nothing: then learning stops. */
const LEARNED_WITHOUT_USE = 32;

/** The last head that was read, so that the same bytes need no second reading: servers say the same for a second at least. */
export class KnownHead {
  #bytes: Uint8Array | null = null;
  #head: ResponseHead | null = null;
  #learnedSinceUse = 0;

  /** How many bytes the head has; 0 while none is known. */
  get length(): number {
    return this.#bytes?.length ?? 0;
  }

  /** The head when it is what bytes[from, length) begins with; else null. */
  recognize(bytes: Buffer, from: number, length: number): ResponseHead | null {
    const known = this.#bytes;
    if (known === null || length - from < known.length) return null;
    if (bytes.compare(known, 0, known.length, from, from + known.length) !== 0) return null;
    this.#learnedSinceUse = 0;
    return this.#head;
  }

  /** Takes a head that was read from bytes[from, end), all of it. */
  learn(bytes: Buffer, from: number, end: number, head: ResponseHead): void {
    if (this.#learnedSinceUse >= LEARNED_WITHOUT_USE) return;
    this.#learnedSinceUse++;
    this.#bytes = new Uint8Array(bytes.subarray(from, end));
    this.#head = head;
  }
}
