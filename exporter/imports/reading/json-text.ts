import { printable } from '../import-notes.ts';

/** JSON of a foreign file that is not as it should be: what is wrong and where, never the text itself. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError';
  readonly problem: string;
  /** Null: somewhere. */
  readonly position: number | null;

  constructor(problem: string, position: number | null, unit: 'character' | 'byte' = 'character') {
    super(position === null ? problem : `${problem} at ${unit} ${position}`);
    this.problem = problem;
    this.position = position;
  }
}

/** An object has a key twice: which of the two values is true is not known. */
export class DuplicateKeyError extends JsonTextError {}

/** The problem of a text that is the beginning of JSON. */
export const CUT_OFF = 'it is cut off';

/** Whole numbers above 2^53 are rounded, or bigints. */
export type LargeNumbers = 'rounded' | 'bigint';

/** Deeper than any result; below what walking it recursively can bear. */
export const DEEPEST_NESTING = 200;

export interface ParsedJson {
  readonly value: unknown;
  /** The number of NaN, Infinity and -Infinity in it, which JSON does not have: they were read as null. */
  readonly notNumbers: number;
}

/**
 * Parses the JSON that benchmark tools write. Python's json writes NaN and Infinity: they become null and are counted.
 * `bigint` gives whole numbers above 2^53 (times in nanoseconds) as bigints, which takes longer.
 * Throws `JsonTextError` for what is not JSON (with its position) and for what is nested deeper than `DEEPEST_NESTING`,
 * and `DuplicateKeyError`.
 */
export function parseJson(text: string, largeNumbers: LargeNumbers = 'rounded'): ParsedJson {
  const { tooDeep, members } = shapeOf(text, DEEPEST_NESTING);
  if (tooDeep !== null) throw new JsonTextError(`it is nested more than ${DEEPEST_NESTING} deep`, tooDeep);
  return parseBounded(text, members, largeNumbers);
}

/** The same for a text of which it is known that it is nested no deeper, and how many members its objects are given. */
export function parseBounded(text: string, members: number, largeNumbers: LargeNumbers): ParsedJson {
  const parsed = parseLenient(text, largeNumbers);
  if (keysIn(parsed.value) === members) return parsed;
  const duplicate = firstDuplicateKey(text);
  if (duplicate === null) return parsed;
  const key = printable(duplicate.key);
  throw new DuplicateKeyError(`an object has the key "${key}" twice, the second`, duplicate.position);
}

/** Equal keys of an object: the last one counts. */
function parseLenient(text: string, largeNumbers: LargeNumbers): ParsedJson {
  const reviver = largeNumbers === 'bigint' ? exactWholeNumber : undefined;
  try {
    return { value: JSON.parse(text, reviver), notNumbers: 0 };
  } catch (error) {
    const { text: fixed, count } = withoutNotNumbers(text);
    if (count === 0) throw problemOf(error, text);
    try {
      return { value: JSON.parse(fixed, reviver), notNumbers: count };
    } catch (again) {
      throw problemOf(again, fixed);
    }
  }
}

function exactWholeNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isLarge = typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(context?.source ?? '');
  return isLarge ? BigInt(context?.source ?? 0) : value;
}

interface Shape {
  /** Where brackets are open more than `deepest` at once; null when they never are. */
  readonly tooDeep: number | null;
  /** Colons outside of strings: the members of all objects. */
  readonly members: number;
}

function shapeOf(text: string, deepest: number): Shape {
  let depth = 0;
  let quoted = false;
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) quoted = false;
    } else if (code === QUOTE) quoted = true;
    // Digits and what is in numbers, most of such a text, come before all others.
    else if (code < COLON) continue;
    else if (code === COLON) members += 1;
    else if (code === BRACKET || code === BRACE) {
      depth += 1;
      if (depth > deepest) return { tooDeep: at, members };
    } else if (code === BRACKET_END || code === BRACE_END) depth -= 1;
  }
  return { tooDeep: null, members };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const BRACKET_END = 0x5d;
const BRACE_END = 0x7d;

/** A string, which is left as it is, or one of the tokens. */
const STRING_OR_NOT_NUMBER = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/gs;

function withoutNotNumbers(text: string): { text: string; count: number } {
  let count = 0;
  const fixed = text.replace(STRING_OR_NOT_NUMBER, (found) => {
    if (found.startsWith('"')) return found;
    count += 1;
    return 'null';
  });
  return { text: fixed, count };
}

/** Texts up to this length are searched for the position of a fault that V8 does not report. */
const MAX_SEARCHED = 1 << 24;

/** V8's message cites the text around the error; that may be a prompt, so only its position is kept. */
function problemOf(error: unknown, text: string): JsonTextError {
  if (text.trim() === '') return new JsonTextError('it is empty', null);
  if (isCutOff(error, text)) return new JsonTextError(CUT_OFF, text.length);
  const position = positionIn(error) ?? (text.length <= MAX_SEARCHED ? firstFault(text) : null);
  return new JsonTextError('it is not JSON', position);
}

function positionIn(error: unknown): number | null {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return position === undefined ? null : Number(position);
}

/** Whether a text is the beginning of JSON: its fault is its end. */
function isCutOff(error: unknown, text: string): boolean {
  const message = error instanceof Error ? error.message : '';
  return /end of JSON input|Unterminated string/i.test(message) || (positionIn(error) ?? -1) >= text.trimEnd().length;
}

/** The position up to which the text is the beginning of JSON. */
function firstFault(text: string): number {
  let [good, bad] = [0, text.length];
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (isBeginning(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function isBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    return isCutOff(error, text);
  }
}

/** A key that an object has a second time. */
interface DuplicateKey {
  readonly key: string;
  /** Of the second one, in UTF-16 units. */
  readonly position: number;
}

/**
 * How many keys the objects of a parsed text have. `JSON.parse` keeps the last of equal keys, so that a text without
 * duplicates has exactly as many colons outside of its strings.
 */
function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) if (typeof element === 'object') count += keysIn(element);
    return count;
  }
  const members = value as Readonly<Record<string, unknown>>;
  // `in` sees no more than own members: `JSON.parse` makes plain objects, and their prototype enumerates nothing.
  for (const key in members) {
    count += 1;
    const member = members[key];
    if (typeof member === 'object') count += keysIn(member);
  }
  return count;
}

/** The first key of a JSON text that its object has already; null when no object has one twice. */
function firstDuplicateKey(text: string): DuplicateKey | null {
  /** Of the objects that are open, by their depth. */
  const keys: Set<string>[] = [];
  for (const { literal, position, depth, isFirst } of keysOf(text)) {
    if (isFirst) keys[depth] = new Set();
    const key = String(JSON.parse(literal));
    if (keys[depth]?.has(key)) return { key, position };
    keys[depth]?.add(key);
  }
  return null;
}

/** A key of an object. */
interface FoundKey {
  /** With its quotes. */
  readonly literal: string;
  /** In UTF-16 units. */
  readonly position: number;
  /** Objects and lists that are open; 1 in the outermost. */
  readonly depth: number;
  /** The first of its object. */
  readonly isFirst: boolean;
}

/** The keys of all objects of a JSON text, in their order; the text may be cut anywhere. */
export function* keysOf(text: string): Generator<FoundKey> {
  /** Of what is open, whether it is an object. */
  const open: boolean[] = [];
  let keyIsNext = false;
  let isFirst = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (end >= text.length) return;
      if (keyIsNext) yield { literal: text.slice(at, end + 1), position: at, depth: open.length, isFirst };
      keyIsNext = false;
      at = end;
    } else if (character === '{' || character === '[') {
      keyIsNext = isFirst = character === '{';
      open.push(keyIsNext);
    } else if (character === '}' || character === ']') {
      open.pop();
      keyIsNext = false;
    } else if (character === ',') {
      keyIsNext = open.at(-1) === true;
      isFirst = false;
    }
  }
}

/** Position of the closing quote. */
function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
