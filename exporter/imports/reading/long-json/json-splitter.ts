import { CUT_OFF, DEEPEST_NESTING, DuplicateKeyError, JsonTextError, parseBounded } from '../json-text.ts';
import type { LargeNumbers, ParsedJson } from '../json-text.ts';

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

/** An element may be this long; the elements of a list as a whole may be of any length. */
const MAX_ELEMENT_BYTES = 32 * 2 ** 20;

/** A long list while it is read: cut at its commas, so that whole elements are parsed, many at once. */
class ListReading {
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

const IN_LIST = 1;
const IN_OBJECT = 2;

/** Where in a JSON value a scanner is: how deep, and by which keys and indexes, as far as anyone looks at them. */
class JsonNesting {
  readonly #kinds = new Uint8Array(DEEPEST_NESTING + 1);
  /** Of the values inside each of the first containers: the key, or the index in a list. */
  readonly #steps: (string | number | null)[] = [];
  readonly #watched: number;
  #depth = 0;
  #keyIsNext = false;

  /** `watched`: down to which depth keys and indexes are kept. */
  constructor(watched: number) {
    this.#watched = watched;
  }

  /** How many objects and lists are open. */
  get depth(): number {
    return this.#depth;
  }

  /** Whether the next string is a key that is to be kept. */
  get keyIsNext(): boolean {
    return this.#keyIsNext;
  }

  /** The keys and indexes that lead to the value that begins now. */
  get path(): string[] {
    return this.#steps.slice(0, this.#depth).map(String);
  }

  /** An object or a list begins at a byte of the file. Throws `JsonTextError` when it is nested too deep. */
  open(isList: boolean, place: number): void {
    this.#depth += 1;
    if (this.#depth > DEEPEST_NESTING) {
      throw new JsonTextError(`it is nested more than ${DEEPEST_NESTING} deep`, place, 'byte');
    }
    this.#kinds[this.#depth] = isList ? IN_LIST : IN_OBJECT;
    if (this.#depth > this.#watched) return;
    this.#steps[this.#depth - 1] = isList ? 0 : null;
    this.#keyIsNext = !isList;
  }

  /** The innermost object or list ends. Throws `JsonTextError` when it is of the other kind, or none is open. */
  close(isList: boolean, place: number): void {
    if (this.#kinds[this.#depth] !== (isList ? IN_LIST : IN_OBJECT)) {
      throw new JsonTextError('it is not JSON', place, 'byte');
    }
    this.#kinds[this.#depth] = 0;
    this.#depth -= 1;
    this.#keyIsNext = false;
  }

  /** A comma: the next key or element. */
  next(): void {
    if (this.#depth === 0 || this.#depth > this.#watched) return;
    const step = this.#steps[this.#depth - 1];
    if (this.#kinds[this.#depth] === IN_OBJECT) this.#keyIsNext = true;
    else if (typeof step === 'number') this.#steps[this.#depth - 1] = step + 1;
  }

  /** The key has been read. */
  key(name: string): void {
    this.#steps[this.#depth - 1] = name;
    this.#keyIsNext = false;
  }
}

/**
 * JSON put together from stretches of a file. It knows where each came from, so that an error reports its place there.
 */
class LocatedText {
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
