import { DuplicateKeyError, JsonTextError, parseBounded } from '../json-text.ts';
import type { LargeNumbers, ParsedJson } from '../json-text.ts';

/**
 * JSON put together from stretches of a file. It knows where each came from, so that an error reports its place there.
 */
export class LocatedText {
  readonly #stretches: { readonly bytes: Buffer; readonly from: number }[] = [];
  #length = 0;
  #members = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  /** Where the first byte came from; 0 of nothing. */
  get from(): number {
    return this.#stretches[0]?.from ?? 0;
  }

  /** Copies bytes that begin at `from` in the file, with so many colons outside of strings. */
  append(bytes: Uint8Array, from: number, members: number): void {
    this.#members += members;
    if (bytes.length === 0) return;
    this.#stretches.push({ bytes: Buffer.from(bytes), from });
    this.#length += bytes.length;
  }

  clear(): void {
    this.#stretches.length = 0;
    this.#length = 0;
    this.#members = 0;
  }

  /** The value of the text between `before` and `after`. Throws as `parseJson`, with the place in the file. */
  parse(before: string, after: string, largeNumbers: LargeNumbers): ParsedJson {
    const text = `${before}${Buffer.concat(this.#stretches.map(({ bytes }) => bytes)).toString('utf8')}${after}`;
    try {
      return parseBounded(text, this.#members, largeNumbers);
    } catch (error) {
      if (!(error instanceof JsonTextError) || this.#length === 0) throw error;
      const { problem, position } = error;
      const place =
        position === null ? this.from : this.#placeOf(Buffer.byteLength(text.slice(before.length, position)));
      throw new (error instanceof DuplicateKeyError ? DuplicateKeyError : JsonTextError)(problem, place, 'byte');
    }
  }

  /** The offset in the file of the byte at a position of the text. */
  #placeOf(position: number): number {
    let rest = position;
    for (const { bytes, from } of this.#stretches) {
      if (rest < bytes.length) return from + rest;
      rest -= bytes.length;
    }
    const last = this.#stretches.at(-1);
    return last === undefined ? 0 : last.from + last.bytes.length;
  }
}
