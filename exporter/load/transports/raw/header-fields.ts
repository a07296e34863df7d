import { FramingError } from './framing-error.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FIELD_CONTENT = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A name by RFC 9110 §5.1. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** A field's value by RFC 9110 §5.5, with obs-text. */
export function isFieldContent(text: string): boolean {
  return FIELD_CONTENT.test(text);
}

/**
 * The fields of a message's head, names in lower case. Throws a `FramingError` for what RFC 9112 §5 forbids: space
 * before the colon, a folded line, control characters.
 */
export class HeaderFields {
  readonly values: Record<string, string> = Object.create(null) as Record<string, string>;

  /** Adds one line. Values of a repeated field are joined as RFC 9110 §5.3 specifies. */
  add(line: string): void {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!isToken(name)) throw new FramingError('a header line has no valid name');
    const value = withoutOuterSpace(line, colon + 1);
    if (!isFieldContent(value)) throw new FramingError('a header holds a control character');
    const earlier = this.values[name];
    this.values[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }

  /** The members of a comma-separated field, in lower case. */
  list(name: string): readonly string[] {
    const value = this.values[name];
    return value === undefined ? [] : value.split(',').map((member) => member.trim().toLowerCase());
  }
}

function withoutOuterSpace(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isSpace(line.charCodeAt(start))) start++;
  while (end > start && isSpace(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;
