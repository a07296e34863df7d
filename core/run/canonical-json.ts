/** What JSON can say. `undefined` members are refused: a value that is not known is null. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/**
 * The one text of a JSON value, after RFC 8785 (JSON Canonicalization Scheme): no white space, members sorted by the
 * UTF-16 code units of their names, numbers and strings as ECMAScript writes them. Equal values give equal text, so the
 * text can be hashed.
 *
 * Throws a `TypeError` for what JSON cannot say: NaN, infinities, undefined, lone surrogates, objects with a class.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return canonicalNumber(value);
  if (typeof value === 'string') return canonicalString(value);
  if (Array.isArray(value)) return `[${Array.from(value, canonicalJson).join(',')}]`;
  if (typeof value === 'object') return canonicalObject(value);
  throw new TypeError(`a ${typeof value} is not a JSON value`);
}

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
  return JSON.stringify(value);
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('a string with a lone surrogate has no canonical JSON');
  return JSON.stringify(value);
}

function canonicalObject(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('only plain objects are JSON values');
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${canonicalString(key)}:${canonicalJson(member)}`).join(',')}}`;
}
