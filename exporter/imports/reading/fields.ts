import { FloatColumn } from '../../../core/stats/float-column.ts';
import { publicOrigin } from '../../http-client/public-url.ts';
import type { ImportNotes } from '../import-notes.ts';

const NUMBER_TEXT = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/**
 * The members of a JSON object, read by name and kind. Absent, null and what is of another kind is null; the latter is
 * noted. Only the object's own members are seen, so that `__proto__` is a name like any other.
 */
export class Fields {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #notes: ImportNotes;
  readonly #at: string;
  readonly #read = new Set<string>();

  /** `at` is the object's place, for the notes: `input_config.`; empty for the document itself. */
  constructor(members: unknown, notes: ImportNotes, at = '') {
    this.#members = isObject(members) ? members : {};
    this.#notes = notes;
    this.#at = at;
  }

  get names(): readonly string[] {
    return Object.keys(this.#members);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#members, name);
  }

  /** The value as it is; undefined when it is absent. */
  raw(name: string): unknown {
    this.#read.add(name);
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  /** A finite number. A number that is written as text is taken, and noted. */
  number(name: string): number | null {
    const value = this.raw(name);
    if (value === undefined || value === null) return null;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value === 'string' && NUMBER_TEXT.test(value)) {
      this.#notes.count('numbers that were written as text', this.#at + name);
      return Number(value);
    }
    return this.#otherKind(name, 'a number');
  }

  /** A number that is not negative. */
  amount(name: string): number | null {
    const value = this.number(name);
    if (value === null || value >= 0) return value;
    this.#notes.count('negative values read as unknown', this.#at + name);
    return null;
  }

  /** A whole number that is not negative. */
  count(name: string): number | null {
    const value = this.amount(name);
    if (value === null || Number.isSafeInteger(value)) return value;
    return this.#otherKind(name, 'a whole number');
  }

  text(name: string): string | null {
    const value = this.raw(name);
    if (value === undefined || value === null) return null;
    return typeof value === 'string' ? value : this.#otherKind(name, 'text');
  }

  boolean(name: string): boolean | null {
    const value = this.raw(name);
    if (value === undefined || value === null) return null;
    return typeof value === 'boolean' ? value : this.#otherKind(name, 'true or false');
  }

  object(name: string): Fields | null {
    const value = this.raw(name);
    if (value === undefined || value === null) return null;
    return isObject(value) ? new Fields(value, this.#notes, `${this.#at}${name}.`) : this.#otherKind(name, 'an object');
  }

  /** The same; of what is no object, one without members. */
  at(name: string): Fields {
    return this.object(name) ?? new Fields({}, this.#notes);
  }

  list(name: string): readonly unknown[] | null {
    const value = this.raw(name);
    if (value === undefined || value === null) return null;
    return Array.isArray(value) ? value : this.#otherKind(name, 'a list');
  }

  /** A list of numbers, with null for other values. */
  numbers(name: string): readonly (number | null)[] | null {
    const numbers = this.list(name);
    return numbers?.map((value) => (typeof value === 'number' && Number.isFinite(value) ? value : null)) ?? null;
  }

  /** Members that are known and hold nothing to import. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name);
  }

  /** Notes every member that was not requested as not understood. */
  noteUnread(): void {
    for (const name of this.names) if (!this.#read.has(name)) this.#notes.notUnderstood(this.#at + name);
  }

  #otherKind(name: string, kind: string): null {
    this.#notes.count(`values read as unknown: not ${kind}`, this.#at + name);
    return null;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The finite numbers among the members of one name, times `scale`. */
export function numbersOf(
  objects: readonly Readonly<Record<string, unknown>>[],
  name: string,
  scale = 1,
): Float64Array {
  const values = new FloatColumn();
  for (const { [name]: value } of objects) {
    if (typeof value === 'number' && Number.isFinite(value)) values.append(value * scale);
  }
  return values.toArray();
}

/** Scheme, host and port of an address as a tool writes it, with or without `http://`; null when it is none. */
export function publicOriginOrNull(url: string): string | null {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  const isHttp = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  return isHttp ? publicOrigin(address) : null;
}
