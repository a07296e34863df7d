const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const NOTHING = new Uint8Array(0);

export const DEFAULT_EVENT_LIMIT_BYTES = 16 * 2 ** 20;

/**
 * Receives the data of each event as a range of `bytes`, valid only during the call. `stamp` is that of the piece that
 * completed the event's last data line.
 */
export interface SseSink {
  event(stamp: number, bytes: Uint8Array, start: number, end: number): void;
  /** An event without data. */
  blank(): void;
  /** Data of a last event that the stream did not finish: JSON text in it may be complete or truncated. */
  unterminated(stamp: number, bytes: Uint8Array, start: number, end: number): void;
  /** A line `error: …`, which the standard does not have: llama.cpp sent its errors so. */
  errorLine(stamp: number, bytes: Uint8Array, start: number, end: number): void;
  /** An event exceeded the limit; the rest of the stream is ignored. */
  tooLong(stamp: number): void;
}

/**
 * Splits the body of a `text/event-stream` (WHATWG HTML §9.2) into the data of its events, regardless of how it is cut
 * into pieces: LF, CR and CR LF as line ends, comments, a byte order mark, several data lines (joined by LF), no space
 * after the colon. Differences from the standard: names, ids and retry times of events are not delivered, an event with
 * empty data is only announced, and data truncated by the end of the stream is delivered separately. An event that lies
 * within one piece is not copied.
 */
export class SseFramer {
  readonly #sink: SseSink;
  readonly #limit: number;
  /** The bytes of the incomplete event, when it began in an earlier piece. */
  #pending: Uint8Array = NOTHING;
  #pendingLength = 0;
  /** Offsets into the buffer being scanned. */
  #lineStart = 0;
  #dataStart = -1;
  #dataEnd = -1;
  /** Data lines before the last one, when an event has several. */
  #earlierLines: Uint8Array[] = [];
  #dataStamp = 0;
  #lastStamp = 0;
  #skipLf = false;
  #firstLine = true;
  #stopped = false;

  constructor(sink: SseSink, limitBytes: number = DEFAULT_EVENT_LIMIT_BYTES) {
    this.#sink = sink;
    this.#limit = limitBytes;
  }

  /** Processes bytes[start, end) as the next piece; the caller may overwrite the buffer afterwards. */
  push(stamp: number, bytes: Uint8Array, start = 0, end = bytes.length): void {
    if (this.#stopped || start === end) return;
    this.#lastStamp = stamp;
    if (this.#pendingLength === 0) {
      this.#lineStart = start;
      this.#scan(stamp, bytes, start, start, end);
      return;
    }
    const from = this.#pendingLength;
    this.#append(bytes, start, end);
    this.#scan(stamp, this.#pending, 0, from, this.#pendingLength);
  }

  /** The body has ended. */
  end(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    const length = this.#pendingLength;
    if (length > this.#lineStart) this.#line(this.#lastStamp, this.#pending, this.#lineStart, length);
    if (this.#dataStart >= 0) this.#deliver(this.#pending, true);
    this.#pending = NOTHING;
  }

  /**
   * Searches for line ends in [searchFrom, length); the current event starts at `start`, its last line at `#lineStart`.
   */
  #scan(stamp: number, bytes: Uint8Array, start: number, searchFrom: number, length: number): void {
    let eventStart = start;
    let search = searchFrom;
    if (this.#skipLf) {
      this.#skipLf = false;
      if (bytes[search] === LF) {
        search++;
        this.#lineStart = search;
        if (this.#dataStart < 0) eventStart = search;
      }
    }
    let cr = indexOf(bytes, CR, search, length);
    while (search < length) {
      const lf = indexOf(bytes, LF, search, length);
      let lineEnd = lf;
      let next = lf + 1;
      if (cr >= 0 && (lf < 0 || cr < lf)) {
        lineEnd = cr;
        next = cr + 1;
        if (next === length) this.#skipLf = true;
        else if (bytes[next] === LF) next++;
        cr = indexOf(bytes, CR, next, length);
      } else if (lf < 0) break;
      if (lineEnd === this.#lineStart) {
        if (this.#dataStart >= 0) this.#deliver(bytes, false);
        this.#firstLine = false;
        eventStart = next;
      } else {
        this.#line(stamp, bytes, this.#lineStart, lineEnd);
        // Lines without data before the first data line (comments, keep-alives) are not kept.
        if (this.#dataStart < 0) eventStart = next;
      }
      this.#lineStart = next;
      search = next;
    }
    this.#keep(stamp, bytes, eventStart, length);
  }

  /** Processes one line without its end; a data line becomes the event's last one. */
  #line(stamp: number, bytes: Uint8Array, lineStart: number, end: number): void {
    let start = lineStart;
    if (this.#firstLine) {
      this.#firstLine = false;
      if (bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf && start + 3 <= end)
        start += 3;
    }
    // "data", then a colon or the end of the line
    if (bytes[start] !== 100 || bytes[start + 1] !== 97 || bytes[start + 2] !== 116 || bytes[start + 3] !== 97) {
      if (isErrorField(bytes, start, end)) this.#sink.errorLine(stamp, bytes, start + ERROR_FIELD.length, end);
      return;
    }
    let value = start + 4;
    if (value > end) return;
    if (value < end) {
      if (bytes[value] !== COLON) return;
      value++;
      if (value < end && bytes[value] === SPACE) value++;
    }
    if (this.#dataStart >= 0) this.#earlierLines.push(new Uint8Array(bytes.subarray(this.#dataStart, this.#dataEnd)));
    this.#dataStart = value;
    this.#dataEnd = end;
    this.#dataStamp = stamp;
  }

  #deliver(bytes: Uint8Array, unterminated: boolean): void {
    let data = bytes;
    let start = this.#dataStart;
    let end = this.#dataEnd;
    if (this.#earlierLines.length > 0) {
      data = joinLines([...this.#earlierLines, bytes.subarray(start, end)]);
      start = 0;
      end = data.length;
      this.#earlierLines = [];
    }
    this.#dataStart = -1;
    if (start === end) this.#sink.blank();
    else if (unterminated) this.#sink.unterminated(this.#dataStamp, data, start, end);
    else this.#sink.event(this.#dataStamp, data, start, end);
  }

  /** Copies the current event out of the piece, and moves the offsets to the copy. */
  #keep(stamp: number, bytes: Uint8Array, eventStart: number, length: number): void {
    const rest = length - eventStart;
    if (rest > this.#limit) {
      this.#stopped = true;
      this.#pending = NOTHING;
      this.#sink.tooLong(stamp);
      return;
    }
    // The buffer that is being filled is kept as long as no event was delivered from it. (`slice` of a Buffer is a
    // view.)
    if (rest === 0) this.#pending = NOTHING;
    else if (bytes !== this.#pending || eventStart > 0)
      this.#pending = new Uint8Array(bytes.subarray(eventStart, length));
    this.#pendingLength = rest;
    this.#lineStart -= eventStart;
    if (this.#dataStart >= 0) {
      this.#dataStart -= eventStart;
      this.#dataEnd -= eventStart;
    }
  }

  #append(bytes: Uint8Array, start: number, end: number): void {
    const length = this.#pendingLength + end - start;
    if (length > this.#pending.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.#pending.length));
      grown.set(this.#pending.subarray(0, this.#pendingLength));
      this.#pending = grown;
    }
    this.#pending.set(bytes.subarray(start, end), this.#pendingLength);
    this.#pendingLength = length;
  }
}

/** Like `Uint8Array.indexOf`, but within [from, length). */
function indexOf(bytes: Uint8Array, byte: number, from: number, length: number): number {
  const at = bytes.indexOf(byte, from);
  return at < length ? at : -1;
}

const ERROR_FIELD = new TextEncoder().encode('error:');

function isErrorField(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > ERROR_FIELD.length && ERROR_FIELD.every((byte, i) => bytes[start + i] === byte);
}

function joinLines(lines: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(lines.reduce((sum, line) => sum + line.length + 1, -1));
  let at = 0;
  for (const line of lines) {
    joined.set(line, at);
    at += line.length;
    if (at < joined.length) joined[at++] = LF;
  }
  return joined;
}
