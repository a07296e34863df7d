import { CUT_OFF, JsonTextError } from '../json-text.ts';
import type { LargeNumbers, ParsedJson } from '../json-text.ts';
import { JsonNesting } from './json-nesting.ts';
import { LocatedText } from './located-text.ts';
import { ListReading } from './long-list.ts';
import type { LongList } from './long-list.ts';

/** What a document may hold besides its long lists. */
const MAX_REST_BYTES = 48 * 2 ** 20;
/** A longer key is in no path. */
const MAX_KEY_BYTES = 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;

const STRUCTURE = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, COLON, BRACKET, BRACKET_END, BRACE, BRACE_END]) STRUCTURE[byte] = 1;

/**
 * Reads one JSON value of any size, piece by piece, in bounded memory: the elements of its long lists are handed over as
 * they come, and are empty lists in the rest, which is built. Only the structure is looked at byte by byte; whole elements
 * and the rest are parsed as `parseJson` does, so that what is no JSON is found, with its place in the file.
 */
export class JsonSplitter {
  readonly #lists: readonly LongList[];
  readonly #largeNumbers: LargeNumbers;
  readonly #watched: number;
  readonly #nesting: JsonNesting;
  readonly #rest = new LocatedText();
  readonly #seen = new Set<string>();
  #reading: ListReading | null = null;
  #notNumbers = 0;
  /** Bytes of the file before the piece. */
  #offset = 0;
  #inString = false;
  #escaped = false;
  /** The key that is being read, when it is one that is looked at. */
  #key: LocatedText | null = null;

  constructor(lists: readonly LongList[], largeNumbers: LargeNumbers = 'rounded') {
    this.#lists = lists;
    this.#largeNumbers = largeNumbers;
    this.#watched = Math.max(0, ...lists.map(({ path }) => path.length));
    this.#nesting = new JsonNesting(this.#watched);
  }

  /** The next bytes of the value, UTF-8. Throws `JsonTextError`, and what the lists' own functions throw. */
  feed(bytes: Buffer): void {
    const { length } = bytes;
    let at = 0;
    /** Where what has not been handed on begins, and the last comma of the long list in it. */
    let from = 0;
    let cut = -1;
    /** Colons since `from`, and those of them before `cut`. */
    let members = 0;
    let cutMembers = 0;
    while (at < length) {
      if (this.#inString) {
        at = this.#passString(bytes, at);
        continue;
      }
      const byte = bytes[at] as number;
      at += 1;
      if (STRUCTURE[byte] === 0) continue;
      if (byte === QUOTE) {
        this.#inString = true;
        if (this.#nesting.keyIsNext && this.#reading === null) this.#key = new LocatedText();
      } else if (byte === COMMA) {
        if (this.#reading === null) this.#nesting.next();
        else if (this.#nesting.depth === this.#reading.depth) {
          this.#reading.comma();
          cut = at - 1;
          cutMembers = members;
        }
      } else if (byte === COLON) {
        members += 1;
      } else if (byte === BRACKET || byte === BRACE) {
        if (this.#opens(byte === BRACKET, this.#offset + at - 1)) {
          this.#keep(bytes, from, at, members);
          from = at;
          cut = -1;
          members = 0;
        }
      } else {
        if (this.#nesting.depth === this.#reading?.depth && byte === BRACKET_END) {
          this.#reading.end(bytes.subarray(from, at - 1), this.#offset + from, members);
          this.#reading = null;
          from = at - 1;
          members = 0;
        }
        this.#nesting.close(byte === BRACKET_END, this.#offset + at - 1);
      }
    }
    if (this.#reading === null) this.#keep(bytes, from, length, members);
    else if (cut < from) this.#reading.append(bytes.subarray(from), this.#offset + from, members);
    else {
      // Whole elements go to their list, what has only begun waits.
      this.#reading.handOver(bytes.subarray(from, cut), this.#offset + from, cutMembers);
      this.#reading.append(bytes.subarray(cut + 1), this.#offset + cut + 1, members - cutMembers);
    }
    this.#offset += length;
  }

  /** The value without its long lists, when all of it was fed. Throws `JsonTextError`. */
  finish(): ParsedJson {
    if (this.#inString || this.#nesting.depth > 0) throw new JsonTextError(CUT_OFF, this.#offset, 'byte');
    const { value, notNumbers } = this.#rest.parse('', '', this.#largeNumbers);
    return { value, notNumbers: notNumbers + this.#notNumbers };
  }

  /** Up to the end of a string, or of the piece. */
  #passString(bytes: Buffer, start: number): number {
    let from = start;
    if (this.#escaped) from += 1;
    this.#escaped = false;
    for (;;) {
      const quote = bytes.indexOf(QUOTE, from);
      const end = quote < 0 ? bytes.length : quote;
      const isEscaped = backslashesBefore(bytes, from, end) % 2 === 1;
      if (quote >= 0 && isEscaped) {
        from = quote + 1;
        continue;
      }
      this.#keepKey(bytes.subarray(start, end));
      if (quote < 0) {
        this.#escaped = isEscaped;
        return bytes.length;
      }
      this.#inString = false;
      this.#endKey();
      return quote + 1;
    }
  }

  #keepKey(bytes: Uint8Array): void {
    if (this.#key !== null && this.#key.length <= MAX_KEY_BYTES) {
      this.#key.append(bytes.subarray(0, MAX_KEY_BYTES + 1), this.#offset, 0);
    }
  }

  #endKey(): void {
    if (this.#key === null) return;
    const name = this.#key.length > MAX_KEY_BYTES ? '' : String(this.#key.parse('"', '"', 'rounded').value);
    this.#nesting.key(name);
    this.#key = null;
  }

  /** Whether a long list begins with this bracket. */
  #opens(isList: boolean, place: number): boolean {
    const list = isList && this.#reading === null ? this.#listHere() : null;
    const path = list === null ? [] : this.#nesting.path;
    this.#nesting.open(isList, place);
    if (list === null) return false;
    const name = JSON.stringify(path);
    if (this.#seen.has(name)) throw new JsonTextError(`it has ${path.join('.')} twice`, place, 'byte');
    this.#seen.add(name);
    this.#reading = new ListReading(list, path, this.#nesting.depth, this.#largeNumbers, (count) => {
      this.#notNumbers += count;
    });
    return true;
  }

  #listHere(): LongList | null {
    if (this.#nesting.depth > this.#watched) return null;
    const { path } = this.#nesting;
    return (
      this.#lists.find(
        (list) => list.path.length === path.length && list.path.every((step, i) => step === '*' || step === path[i]),
      ) ?? null
    );
  }

  #keep(bytes: Buffer, from: number, to: number, members: number): void {
    this.#rest.append(bytes.subarray(from, to), this.#offset + from, members);
    if (this.#rest.length > MAX_REST_BYTES) {
      const largest = MAX_REST_BYTES / 2 ** 20;
      throw new JsonTextError(`what it holds besides the lists of its requests is larger than ${largest} MB`, null);
    }
  }
}

function backslashesBefore(bytes: Uint8Array, from: number, end: number): number {
  let at = end;
  while (at > from && bytes[at - 1] === BACKSLASH) at -= 1;
  return end - at;
}
