const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * An event without its variable values: texts under the variable keys may be any other non-empty text, counts any other
 * positive integer, and everything else must be identical byte for byte. Whatever matches is valid JSON of the same
 * shape, so it has the same meaning as the event the template was made from.
 */
interface EventTemplate {
  /** The fixed bytes, concatenated. */
  readonly fixed: Uint8Array;
  /** Where each part ends in `fixed`. */
  readonly ends: readonly number[];
  /** What lies between a part and the next: true for a text, false for a count. */
  readonly textAfter: readonly boolean[];
}

/** Makes a template from the bytes of one event, which must be valid JSON. */
function eventTemplate(json: Uint8Array, variableKeys: ReadonlySet<string>): EventTemplate {
  const parts: Uint8Array[] = [];
  const textAfter: boolean[] = [];
  let partStart = 0;
  let key: string | null = null;
  let lastText: string | null = null;
  const cut = (from: number, to: number, isText: boolean): void => {
    parts.push(json.subarray(partStart, from));
    textAfter.push(isText);
    partStart = to;
  };
  for (let at = 0; at < json.length;) {
    const byte = json[at];
    if (byte === QUOTE) {
      const end = endOfText(json, at + 1);
      if (key !== null && variableKeys.has(key) && end > at + 1) cut(at + 1, end, true);
      lastText = key === null ? latin1(json, at + 1, end) : null;
      key = null;
      at = end + 1;
    } else if (byte === 0x3a) {
      key = lastText;
      at++;
    } else if (byte !== undefined && byte > ZERO && byte <= NINE && key !== null && variableKeys.has(key)) {
      const end = endOfDigits(json, at);
      if (isValueEnd(json[end])) cut(at, end, false);
      key = null;
      at = endOfNumber(json, end);
    } else {
      if (!isSpace(byte)) key = null;
      at++;
    }
  }
  parts.push(json.subarray(partStart));
  return concatenate(parts, textAfter);
}

/** Whether bytes[start, end) matches the template. */
function matchesTemplate(template: EventTemplate, bytes: Uint8Array, start: number, end: number): boolean {
  const { fixed, ends, textAfter } = template;
  let at = start;
  let i = 0;
  for (let part = 0; part < ends.length; part++) {
    const partEnd = ends[part] ?? 0;
    if (at + partEnd - i > end) return false;
    while (i < partEnd) if (bytes[at++] !== fixed[i++]) return false;
    if (part === textAfter.length) break;
    const after = textAfter[part] === true ? skipText(bytes, at, end) : skipCount(bytes, at, end);
    if (after === at) return false;
    at = after;
  }
  return at === end;
}

/** The end of the JSON string that begins at `from` (before its closing quote); `from` when it is empty or invalid. */
function skipText(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte < 0x20) return from;
    if (byte === BACKSLASH) {
      const length = escapeLength(bytes, at);
      if (length === 0) return from;
      at += length;
    } else at++;
  }
  return from;
}

/** Length of the escape sequence at `at`; 0 when it is not valid JSON. */
function escapeLength(bytes: Uint8Array, at: number): number {
  switch (bytes[at + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return 2;
    case 0x75: // u
      for (let i = at + 2; i < at + 6; i++) if (!isHex(bytes[i])) return 0;
      return 6;
    default:
      return 0;
  }
}

function skipCount(bytes: Uint8Array, from: number, end: number): number {
  return bytes[from] === ZERO ? from : Math.min(endOfDigits(bytes, from), end);
}

function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte !== undefined && byte >= ZERO && byte <= NINE; byte = bytes[at]) at++;
  return at;
}

function endOfText(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

function endOfNumber(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && !isValueEnd(json[at])) at++;
  return at;
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

const isValueEnd = (byte: number | undefined): boolean =>
  byte === undefined || isSpace(byte) || byte === 0x2c || byte === 0x7d || byte === 0x5d;

const isHex = (byte = 0): boolean =>
  (byte >= ZERO && byte <= NINE) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);

/** Variable keys are ASCII; any other key only has to differ from them. */
function latin1(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let i = start; i < end && i < start + 32; i++) text += String.fromCharCode(bytes[i] ?? 0);
  return text;
}

function concatenate(parts: readonly Uint8Array[], textAfter: readonly boolean[]): EventTemplate {
  const ends: number[] = [];
  let length = 0;
  for (const part of parts) ends.push((length += part.length));
  const fixed = new Uint8Array(length);
  parts.forEach((part, i) => fixed.set(part, (ends[i] ?? 0) - part.length));
  return { fixed, ends, textAfter };
}

const TEMPLATES = 4;
/** When every event of a server has a different shape, nothing can be learned: learning stops after this many. */
const LEARNED_WITHOUT_USE = 32;

/** What a content chunk contains: text that is not reasoning, or only reasoning. */
export type ContentKind = 'output' | 'reasoning';

interface KnownEvent {
  readonly template: EventTemplate;
  readonly kind: ContentKind;
}

/**
 * Recognizes plain content chunks by their bytes, from the events it has learned. An event that it does not recognize
 * must be parsed; an event that it recognizes has the same meaning as the one it learned from.
 */
export class ContentRecognizer {
  #variableKeys: ReadonlySet<string>;
  readonly #known: KnownEvent[] = [];
  #learnedSinceUse = 0;

  constructor(variableKeys: ReadonlySet<string>) {
    this.#variableKeys = variableKeys;
  }

  /** What bytes[start, end) contains when it is a content chunk of a learned shape; else null. */
  recognize(bytes: Uint8Array, start: number, end: number): ContentKind | null {
    for (let i = 0; i < this.#known.length; i++) {
      const known = this.#known[i];
      if (known !== undefined && matchesTemplate(known.template, bytes, start, end)) {
        this.#learnedSinceUse = 0;
        if (i > 0) this.#moveToFront(i);
        return known.kind;
      }
    }
    return null;
  }

  /**
   * Learns an event that is valid JSON and carries content and nothing else. `textKeys`: further keys of this server's
   * texts, which are variable from now on.
   */
  learn(bytes: Uint8Array, start: number, end: number, kind: ContentKind, textKeys: readonly string[] = []): void {
    if (this.#learnedSinceUse >= LEARNED_WITHOUT_USE || this.recognize(bytes, start, end) !== null) return;
    this.#learnedSinceUse++;
    if (textKeys.some((key) => !this.#variableKeys.has(key)))
      this.#variableKeys = new Set([...this.#variableKeys, ...textKeys]);
    const learned = { template: eventTemplate(bytes.subarray(start, end), this.#variableKeys), kind };
    if (this.#known.length < TEMPLATES) this.#known.unshift(learned);
    else {
      this.#known[TEMPLATES - 1] = learned;
      this.#moveToFront(TEMPLATES - 1);
    }
  }

  #moveToFront(i: number): void {
    const [known] = this.#known.splice(i, 1);
    if (known !== undefined) this.#known.unshift(known);
  }
}
