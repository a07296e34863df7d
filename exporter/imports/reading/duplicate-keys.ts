const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A key that an object has a second time. */
export interface DuplicateKey {
  readonly key: string;
  /** Of the second one, in UTF-16 units. */
  readonly position: number;
}

/**
 * How many keys the objects of a parsed text have. `JSON.parse` keeps the last of equal keys, so that a text without
 * duplicates has exactly as many colons outside of its strings.
 */
export function keysIn(value: unknown): number {
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
export function firstDuplicateKey(text: string): DuplicateKey | null {
  /** Keys of the objects that are open; null for a list. */
  const open: (Set<string> | null)[] = [];
  let keyIsNext = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      const keys = open.at(-1);
      if (keyIsNext && keys) {
        const key = String(JSON.parse(text.slice(at, end + 1)));
        if (keys.has(key)) return { key, position: at };
        keys.add(key);
      }
      keyIsNext = false;
      at = end;
    } else if (character === '{' || character === '[') {
      keyIsNext = character === '{';
      open.push(keyIsNext ? new Set() : null);
    } else if (character === '}' || character === ']') {
      open.pop();
      keyIsNext = false;
    } else if (character === ',') keyIsNext = open.at(-1) instanceof Set;
  }
  return null;
}

/** Position of the closing quote. */
function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
