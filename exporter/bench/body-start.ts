const LIMIT_BYTES = 4096;
const utf8 = new TextDecoder();

/** The beginning of a body that may turn out to be an error message instead of a stream. */
export class BodyStart {
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  /** Takes bytes[start, end). */
  add(bytes: Uint8Array, start: number, end: number): void {
    const room = LIMIT_BYTES - this.#bytes;
    if (room <= 0) return;
    const kept = new Uint8Array(bytes.subarray(start, Math.min(end, start + room)));
    this.#pieces.push(kept);
    this.#bytes += kept.length;
  }

  drop(): void {
    if (this.#bytes === 0) return;
    this.#pieces = [];
    this.#bytes = 0;
  }

  get text(): string {
    if (this.#bytes === 0) return '';
    const whole = new Uint8Array(this.#bytes);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return utf8.decode(whole);
  }
}
