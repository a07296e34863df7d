import { FNV_START, hashBytes, equalBytes, type Dictionaries, makeLabels } from './byte-interner.ts';
import {
  BACKSLASH,
  BRACE_CLOSE,
  BRACE_OPEN,
  COMMA,
  EQUALS,
  LF,
  QUOTE,
  SPACE,
  TAB,
  isLabelPart,
  isLabelStart,
  isNamePart,
  isNameStart,
  type Dialect,
  type PageCursor,
  NumberReader,
  HASH,
  MINUS,
  parseGoFloat,
} from './page-cursor.ts';
import { readLabelBlock } from './label-block.ts';
import type { PageRows } from './parsed-exposition.ts';
import type { ParseLimits, Exemplar } from '../exposition.ts';

/**
 * Reads sample lines. The usual line is read on bytes: the buckets of one series differ only in `le` and value, so the
 * line is compared with the one before; else its name and label block are looked up as bytes. Anything unusual or wrong
 * is passed to the careful parser, which decides.
 */
export class SampleReader {
  private readonly cursor: PageCursor;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly dictionaries: Dictionaries;
  private readonly rows: PageRows;
  private readonly dialect: Dialect;
  private readonly limits: ParseLimits;
  private readonly numbers = new NumberReader();

  // The identity read last.
  private nameId = 0;
  private setId = 0;
  private boundId = -1;

  // The line before, when it was a regular bucket line: [start, `le="`) and [closing quote of le, value).
  private previousStart = 0;
  private prefixLength = 0;
  private suffixStart = 0;
  private suffixLength = 0;

  // The value of `le` in the block read last, 0 without.
  private boundStart = 0;
  private boundEnd = 0;
  private boundNameStart = 0;

  constructor(cursor: PageCursor, dictionaries: Dictionaries, rows: PageRows, dialect: Dialect, limits: ParseLimits) {
    this.cursor = cursor;
    this.bytes = cursor.bytes;
    this.view = new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset, cursor.bytes.byteLength);
    this.dictionaries = dictionaries;
    this.rows = rows;
    this.dialect = dialect;
    this.limits = limits;
  }

  /** Reads the line that starts at `start` into the rows; returns the start of the next. */
  read(start: number): number {
    let valueStart = this.likePrevious(start);
    if (valueStart === 0) {
      valueStart = this.readRegularIdentity(start);
      if (valueStart === 0) {
        this.prefixLength = 0;
        const end = this.readCarefully(start);
        return this.readTail(start, end);
      }
    }
    return this.readValue(start, valueStart);
  }

  private readValue(start: number, valueStart: number): number {
    const value = this.numbers.readShort(this.bytes, valueStart);
    const end = this.numbers.end;
    if (value === undefined || this.bytes[end] !== LF) return this.readTail(start, valueStart - 1);
    if (this.rows.count >= this.limits.maxSamples) throw this.tooManySamples(start);
    this.rows.push(this.nameId, this.setId, this.boundId, value, start);
    return end + 1;
  }

  private readTail(start: number, identityEnd: number): number {
    const { rows, cursor } = this;
    if (rows.count >= this.limits.maxSamples) throw this.tooManySamples(start);
    cursor.at = identityEnd;
    const tail = readSampleTail(cursor, this.dialect, this.limits);
    const row = rows.push(this.nameId, this.setId, this.boundId, tail.value, start);
    if (tail.timestampSeconds !== null) rows.setTimestamp(row, tail.timestampSeconds);
    if (tail.exemplar !== null) rows.exemplars.set(row, tail.exemplar);
    return cursor.at;
  }

  private likePrevious(start: number): number {
    const { bytes, view, prefixLength, suffixLength } = this;
    const boundStart = start + prefixLength;
    if (prefixLength === 0 || boundStart + suffixLength >= this.cursor.end) return 0;
    if (!equalBytes(view, start, view, this.previousStart, prefixLength)) return 0;
    let end = boundStart;
    for (let c = bytes[end]; c !== QUOTE; c = bytes[++end]) if (c === BACKSLASH || c === LF) return 0;
    if (end + suffixLength >= this.cursor.end || !equalBytes(view, end, view, this.suffixStart, suffixLength)) return 0;
    this.boundId = this.internBound(boundStart, end);
    return end + suffixLength;
  }

  /** Name, labels and one space as most writers set them; 0: leave it to the careful parser. */
  private readRegularIdentity(start: number): number {
    const { bytes, dictionaries } = this;
    let at = start;
    if (!isNameStart(bytes[at])) return 0;
    while (isNamePart(bytes[at])) at++;
    const hash = hashBytes(bytes, start, at, FNV_START);
    const known = dictionaries.nameBytes.find(bytes, hash, start, at, 0, 0);
    this.nameId = known >= 0 ? known : this.addName(start, at, hash);
    this.boundStart = 0;
    this.boundId = -1;
    if (bytes[at] === SPACE) {
      const next = bytes[at + 1];
      if (next === BRACE_OPEN || next === SPACE || next === TAB) return 0;
      this.setId = dictionaries.emptySet;
    } else {
      if (bytes[at] !== BRACE_OPEN) return 0;
      const open = at;
      at = this.scanLabels(at + 1, dictionaries.bucketNames[this.nameId] === true);
      if (at === 0 || bytes[at] !== SPACE || !this.resolveLabels(open, at - 1)) return 0;
    }
    const valueStart = at + 1;
    this.prefixLength = this.boundStart === 0 ? 0 : this.boundStart - start;
    this.previousStart = start;
    this.suffixStart = this.boundEnd;
    this.suffixLength = valueStart - this.boundEnd;
    return valueStart;
  }

  /** Finds the end of the block that starts behind `{`, and `le` in it; returns the offset behind `}` or 0. */
  private scanLabels(at: number, bucket: boolean): number {
    const { bytes } = this;
    if (bytes[at] === BRACE_CLOSE) return at + 1;
    for (;;) {
      const nameStart = at;
      if (!isLabelStart(bytes[at])) return 0;
      while (isLabelPart(bytes[at])) at++;
      const nameEnd = at;
      if (bytes[at] !== EQUALS || bytes[at + 1] !== QUOTE) return 0;
      at += 2;
      const valueStart = at;
      let escaped = false;
      for (let c = bytes[at]; c !== QUOTE; c = bytes[++at]) {
        if (c === BACKSLASH) {
          escaped = true;
          c = bytes[++at];
        }
        if (c === LF || c === undefined) return 0;
      }
      if (bucket && nameEnd - nameStart === 2 && bytes[nameStart] === 108 && bytes[nameStart + 1] === 101) {
        if (escaped || this.boundStart !== 0) return 0;
        this.boundNameStart = nameStart;
        this.boundStart = valueStart;
        this.boundEnd = at;
      }
      at++;
      if (bytes[at] === BRACE_CLOSE) return at + 1;
      if (bytes[at] !== COMMA) return 0;
      at++;
    }
  }

  /** The label set of the block { … } at [open, close]; on first sight by the careful parser. */
  private resolveLabels(open: number, close: number): boolean {
    const { bytes, dictionaries } = this;
    let end = close;
    let start2 = close;
    if (this.boundStart !== 0) {
      // Leave out `le` with the comma behind it, or before it when it is last.
      const last = this.boundEnd + 1 === close;
      const first = this.boundNameStart === open + 1;
      end = last && !first ? this.boundNameStart - 1 : this.boundNameStart;
      start2 = last ? close : this.boundEnd + 2;
    }
    const hash = hashBytes(bytes, start2, close, hashBytes(bytes, open + 1, end, FNV_START));
    let id = dictionaries.labelBytes.find(bytes, hash, open + 1, end, start2, close);
    if (id < 0) {
      const pairs = plainLabels(bytes, open + 1, close, this.limits) ?? this.carefulLabels(open);
      if (pairs === null) return false;
      const base = this.boundStart === 0 ? pairs : pairs.filter(([label]) => label !== 'le');
      id = dictionaries.labelSets.intern(base);
      dictionaries.labelBytes.add(bytes, hash, open + 1, end, start2, close, id);
    }
    this.setId = id;
    if (this.boundStart !== 0) {
      if ((dictionaries.labelSets.sizes[id] as number) >= this.limits.maxLabels)
        throw this.cursor.error(this.boundNameStart, `more than ${this.limits.maxLabels} labels`);
      this.boundId = this.internBound(this.boundStart, this.boundEnd);
    }
    return true;
  }

  /** Null: the metric's name is inside the braces. */
  private carefulLabels(open: number): [string, string][] | null {
    this.cursor.at = open + 1;
    const { name, pairs } = readLabelBlock(this.cursor, this.dialect, this.limits);
    return name === null ? pairs : null;
  }

  private internBound(start: number, end: number): number {
    const { bytes, dictionaries } = this;
    const hash = hashBytes(bytes, start, end, FNV_START);
    const known = dictionaries.boundBytes.find(bytes, hash, start, end, 0, 0);
    if (known >= 0) return known;
    if (end - start > this.limits.maxLabelValueBytes)
      throw this.cursor.error(start, `a label value is longer than ${this.limits.maxLabelValueBytes} bytes`);
    const id = dictionaries.internBound(this.cursor.text(start, end, 'a label value'));
    dictionaries.boundBytes.add(bytes, hash, start, end, 0, 0, id);
    return id;
  }

  private addName(start: number, end: number, hash: number): number {
    if (end - start > this.limits.maxLabelNameBytes)
      throw this.cursor.error(start, `a name is longer than ${this.limits.maxLabelNameBytes} bytes`);
    const id = this.dictionaries.internName(this.cursor.text(start, end, 'a metric name'));
    this.dictionaries.nameBytes.add(this.bytes, hash, start, end, 0, 0, id);
    return id;
  }

  /** Any identity that the format allows; returns where it ends. */
  private readCarefully(start: number): number {
    const { bytes, cursor, dialect, dictionaries, limits } = this;
    cursor.at = start;
    if (dialect.blanks) cursor.skip(SPACE, TAB);
    const nameStart = cursor.at;
    let name: string | null = null;
    if (isNameStart(bytes[nameStart])) {
      while (isNamePart(bytes[cursor.at])) cursor.at++;
      if (cursor.at - nameStart > limits.maxLabelNameBytes)
        throw cursor.error(nameStart, `a name is longer than ${limits.maxLabelNameBytes} bytes`);
      name = cursor.text(nameStart, cursor.at, 'a metric name');
      const nameEnd = cursor.at;
      if (dialect.blanks) cursor.skip(SPACE, TAB);
      if (bytes[cursor.at] !== BRACE_OPEN) cursor.at = nameEnd;
    }
    let pairs: [string, string][] = [];
    if (bytes[cursor.at] === BRACE_OPEN) {
      cursor.at++;
      const block = readLabelBlock(cursor, dialect, limits);
      if (name !== null && block.name !== null) throw cursor.error(nameStart, 'the metric has a second name');
      name ??= block.name;
      pairs = block.pairs;
      if (name === null) throw cursor.error(nameStart, 'the labels have no metric name');
    }
    if (name === null) throw cursor.unexpected(nameStart, 'a metric name');
    this.nameId = dictionaries.internName(name);
    const bound = dictionaries.bucketNames[this.nameId] === true ? pairs.find(([label]) => label === 'le') : undefined;
    this.boundId = bound === undefined ? -1 : dictionaries.internBound(bound[1]);
    this.setId = dictionaries.labelSets.intern(bound === undefined ? pairs : pairs.filter((pair) => pair !== bound));
    return cursor.at;
  }

  private tooManySamples(start: number): Error {
    return this.cursor.error(start, `more than ${this.limits.maxSamples} samples`);
  }
}

const decoder = new TextDecoder('latin1');

/**
 * The labels `a="b",c="d"` in [start, end), whose form is known to be that, decoded in one go. Undefined when they are
 * not plain ASCII without escapes, or might break a rule: the careful parser then decides and words the error.
 */
function plainLabels(
  bytes: Uint8Array,
  start: number,
  end: number,
  limits: ParseLimits,
): [string, string][] | undefined {
  for (let i = start; i < end; i++) {
    const c = bytes[i] as number;
    if (c >= 0x80 || c === BACKSLASH) return undefined;
  }
  const text = decoder.decode(bytes.subarray(start, end));
  const pairs: [string, string][] = [];
  for (let at = 0; at < text.length;) {
    const equals = text.indexOf('="', at);
    const quote = text.indexOf('"', equals + 2);
    const name = text.slice(at, equals);
    const isFit = quote - equals - 2 <= limits.maxLabelValueBytes && name.length <= limits.maxLabelNameBytes;
    if (!isFit || name === '__name__' || pairs.length === limits.maxLabels) return undefined;
    for (const [other] of pairs) if (other === name) return undefined;
    pairs.push([name, text.slice(equals + 2, quote)]);
    at = quote + 2;
  }
  return pairs;
}

const INT64 = /^-?[0-9]+$/;
const MAX_INT64 = 2 ** 63;

interface SampleTail {
  readonly value: number;
  readonly timestampSeconds: number | null;
  readonly exemplar: Exemplar | null;
}

/** What follows name and labels: value, time, exemplar. The cursor ends after the line feed. */
function readSampleTail(cursor: PageCursor, dialect: Dialect, limits: ParseLimits): SampleTail {
  return dialect.blanks ? readTextTail(cursor) : readOpenMetricsTail(cursor, dialect, limits);
}

function readTextTail(cursor: PageCursor): SampleTail {
  const { bytes } = cursor;
  cursor.skip(SPACE, TAB);
  const value = readFloat(cursor, 'a value');
  cursor.skip(SPACE, TAB);
  let timestampSeconds: number | null = null;
  const start = cursor.at;
  if (bytes[start] === MINUS || isDigit(bytes[start])) {
    cursor.at++;
    while (isDigit(bytes[cursor.at])) cursor.at++;
    const text = cursor.text(start, cursor.at, 'a timestamp');
    const milliseconds = INT64.test(text) ? Number(text) : NaN;
    if (!(Math.abs(milliseconds) <= MAX_INT64)) throw cursor.error(start, 'a timestamp beyond 64 bits');
    timestampSeconds = milliseconds / 1000;
    cursor.skip(SPACE, TAB);
  }
  if (bytes[cursor.at] !== LF) throw cursor.unexpected(cursor.at, 'a timestamp or the end of the line');
  cursor.at++;
  return { value, timestampSeconds, exemplar: null };
}

function readOpenMetricsTail(cursor: PageCursor, dialect: Dialect, limits: ParseLimits): SampleTail {
  const { bytes } = cursor;
  expectSpace(cursor);
  const value = readFloat(cursor, 'a value');
  let timestampSeconds: number | null = null;
  if (bytes[cursor.at] === SPACE && bytes[cursor.at + 1] !== HASH) timestampSeconds = readTimestamp(cursor);
  let exemplar: Exemplar | null = null;
  if (bytes[cursor.at] === SPACE) {
    for (const expected of [SPACE, HASH, SPACE, BRACE_OPEN]) {
      if (bytes[cursor.at] !== expected) throw cursor.unexpected(cursor.at, 'an exemplar " # {…} value"');
      cursor.at++;
    }
    exemplar = readExemplar(cursor, dialect, limits);
  }
  if (bytes[cursor.at] !== LF) throw cursor.unexpected(cursor.at, 'the end of the line');
  cursor.at++;
  return { value, timestampSeconds, exemplar };
}

function readExemplar(cursor: PageCursor, dialect: Dialect, limits: ParseLimits): Exemplar {
  const { pairs } = readLabelBlock(cursor, dialect, limits, true);
  expectSpace(cursor);
  const value = readFloat(cursor, "an exemplar's value");
  const timestampSeconds = cursor.bytes[cursor.at] === SPACE ? readTimestamp(cursor) : null;
  return { labels: makeLabels(pairs), value, timestampSeconds };
}

/** OpenMetrics: seconds as a real number. */
function readTimestamp(cursor: PageCursor): number {
  expectSpace(cursor);
  const start = cursor.at;
  const seconds = readFloat(cursor, 'a timestamp');
  if (!Number.isFinite(seconds)) throw cursor.error(start, 'a timestamp that is not finite');
  return seconds;
}

function expectSpace(cursor: PageCursor): void {
  if (cursor.bytes[cursor.at] !== SPACE) throw cursor.unexpected(cursor.at, 'one space');
  cursor.at++;
}

function readFloat(cursor: PageCursor, what: string): number {
  const { bytes } = cursor;
  const start = cursor.at;
  let end = start;
  for (let c = bytes[end]; c !== SPACE && c !== TAB && c !== LF && c !== BRACE_OPEN && end < cursor.end; c = bytes[end])
    end++;
  const value = end - start > 400 ? undefined : parseGoFloat(asciiText(bytes, start, end));
  if (value === undefined) throw cursor.unexpected(start, what);
  cursor.at = end;
  return value;
}

/** Numbers are ASCII; other bytes become characters that no number has. */
function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] as number);
  return text;
}

function isDigit(c: number | undefined): boolean {
  return c !== undefined && c >= 48 && c <= 57;
}
