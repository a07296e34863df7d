import { JsonTextError } from '../json-text.ts';
import type { LargeNumbers } from '../json-text.ts';
import { LocatedText } from './located-text.ts';

/** A list in a document that may be larger than memory: its elements are handed over while they are read. */
export interface LongList {
  /** Its place: keys of objects and indexes of lists; `*` is any of them. */
  readonly path: readonly string[];
  /**
   * Given the elements in their order, some at a time, with the keys and indexes that lead to their list. Null: they
   * are passed over, and never built.
   */
  readonly elements: ((values: readonly unknown[], at: readonly string[]) => void) | null;
  /** Called when the list has ended, with its number of elements. */
  readonly ended?: (count: number, at: readonly string[]) => void;
}

/** An element may be this long; the elements of a list as a whole may be of any length. */
const MAX_ELEMENT_BYTES = 32 * 2 ** 20;

/** A long list while it is read: cut at its commas, so that whole elements are parsed, many at once. */
export class ListReading {
  /** How many objects and lists are open inside it when a comma parts its elements. */
  readonly depth: number;
  readonly #list: LongList;
  readonly #at: readonly string[];
  readonly #largeNumbers: LargeNumbers;
  readonly #onNotNumbers: (count: number) => void;
  readonly #pending = new LocatedText();
  #count = 0;
  #commas = 0;
  #hasContent = false;

  constructor(
    list: LongList,
    at: readonly string[],
    depth: number,
    largeNumbers: LargeNumbers,
    onNotNumbers: (count: number) => void,
  ) {
    this.#list = list;
    this.#at = at;
    this.depth = depth;
    this.#largeNumbers = largeNumbers;
    this.#onNotNumbers = onNotNumbers;
  }

  /** A comma between two elements. */
  comma(): void {
    this.#commas += 1;
  }

  /** Bytes that are no whole elements yet; `members` is as for `LocatedText.append`. */
  append(bytes: Uint8Array, from: number, members: number): void {
    if (this.#list.elements === null) {
      this.#hasContent ||= bytes.some(isNoSpace);
      return;
    }
    this.#pending.append(bytes, from, members);
    if (this.#pending.length > MAX_ELEMENT_BYTES) {
      const what = `an entry of ${this.#list.path.at(-1) ?? 'a list'} is larger than ${MAX_ELEMENT_BYTES / 2 ** 20} MB`;
      throw new JsonTextError(what, this.#pending.from, 'byte');
    }
  }

  /** Bytes followed by a comma: with those before them they are whole elements. */
  handOver(bytes: Uint8Array, from: number, members: number): void {
    if (this.#list.elements === null) {
      this.#hasContent = true;
      return;
    }
    this.#pending.append(bytes, from, members);
    if (this.#parsed() === 0) throw new JsonTextError('it is not JSON', from + bytes.length, 'byte');
  }

  /** The last bytes of the list, without its bracket. */
  end(bytes: Uint8Array, from: number, members: number): void {
    this.append(bytes, from, members);
    if (this.#list.elements === null) this.#count = this.#commas + (this.#hasContent ? 1 : 0);
    else if (this.#parsed() === 0 && this.#commas > 0) {
      throw new JsonTextError('it is not JSON', from + bytes.length, 'byte');
    }
    this.#list.ended?.(this.#count, this.#at);
  }

  /** Hands over the elements of what has come; how many they were. */
  #parsed(): number {
    const { value, notNumbers } = this.#pending.parse('[', ']', this.#largeNumbers);
    const elements = value as readonly unknown[];
    this.#pending.clear();
    this.#onNotNumbers(notNumbers);
    this.#count += elements.length;
    this.#list.elements?.(elements, this.#at);
    return elements.length;
  }
}

function isNoSpace(byte: number): boolean {
  return byte > 0x20;
}
