/** How a file begins, for recognizing it: at most 64 KiB. */
export interface FileHead {
  readonly bytes: Uint8Array;
  /** The same as UTF-8 (UTF-16 when marked as such), without a byte order mark; what is not text has U+FFFD. */
  readonly text: string;
  /** The head is the whole file. */
  readonly whole: boolean;
  /** Keys of the first JSON object, in their order, as far as the head reaches; empty when it begins with no object. */
  readonly keys: readonly string[];
  /** A first line that is a whole JSON value, and is not the whole file's only line. */
  readonly isJsonLines: boolean;
  /** The first line when it is a whole JSON object; null otherwise. */
  readonly firstObject: Readonly<Record<string, unknown>> | null;
  /** The first line, without its end. */
  readonly firstLine: string;
}

const MAX_KEYS = 1000;

/** Describes a file's first bytes. Never throws. */
export function fileHead(bytes: Uint8Array, whole: boolean): FileHead {
  const text = textOf(bytes);
  const end = text.indexOf('\n');
  const firstLine = (end < 0 ? text : text.slice(0, end)).replace(/\r$/, '');
  const lineIsWhole = end >= 0 || whole;
  const firstObject = lineIsWhole ? objectOf(firstLine) : null;
  return {
    bytes,
    text,
    whole,
    keys: topLevelKeys(text),
    isJsonLines: firstObject !== null && text.slice(end + 1).trim() !== '' && end >= 0,
    firstObject,
    firstLine,
  };
}

function textOf(bytes: Uint8Array): string {
  const utf16 =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
  return new TextDecoder(utf16 ?? 'utf-8').decode(bytes);
}

function objectOf(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    // Not JSON, or JSON as Python writes it (NaN): the reader of the file reports what is wrong with it.
    return null;
  }
}

/** The keys of the first object of a text that may be cut anywhere. */
export function topLevelKeys(text: string): string[] {
  const keys: string[] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return keys;
  let depth = 0;
  let keyIsNext = false;
  for (; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (end < 0) break;
      if (depth === 1 && keyIsNext && keys.length < MAX_KEYS) keys.push(unquoted(text.slice(at, end + 1)));
      keyIsNext = false;
      at = end;
    } else if (character === '{' || character === '[') {
      depth += 1;
      keyIsNext = depth === 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) break;
    } else if (character === ',') {
      keyIsNext = depth === 1;
    }
  }
  return keys;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  return at;
}

/** Position of the closing quote; −1 when the text ends before it. */
function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return -1;
}

function unquoted(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    // A raw control character in a key: no JSON, but still a name to look at.
    return literal.slice(1, -1);
  }
}
