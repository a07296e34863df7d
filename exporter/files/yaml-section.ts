import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { ConfigurationError } from '../errors/expected-error.ts';

/** The parser is loaded with the first file: most commands read none. */
const load = createRequire(import.meta.url);

/** Units of Prometheus' durations, in milliseconds, in the order in which they may follow each other. */
const DURATION_UNITS = { y: 31_536_000_000, w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/**
 * The root of a YAML file. `file`, and the line where it is known, begin the message of the `ConfigurationError` that is
 * thrown for anything that is wrong.
 */
export function yamlSection(text: string, file: string): YamlSection {
  const { isNode, LineCounter, parseDocument } = load('yaml') as typeof Yaml;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, strict: true, prettyErrors: false });
  const at = (offset: number): string => `${file}:${lines.linePos(offset).line}`;
  const [problem] = document.errors;
  if (problem !== undefined) throw new ConfigurationError(`${at(problem.pos[0])}: ${problem.message}`);
  // Of a key that is missing the place is that of its mapping.
  const placeOf = (path: readonly string[]): string => {
    if (path.length === 0) return file;
    const node = document.getIn(path, true);
    return isNode(node) && node.range ? at(node.range[0]) : placeOf(path.slice(0, -1));
  };
  try {
    return new YamlSection(document.toJS({ maxAliasCount: 0 }) ?? {}, placeOf, []);
  } catch (error) {
    if (error instanceof ReferenceError)
      throw new ConfigurationError(`${file}: it has an alias, which is not followed`);
    throw error;
  }
}

/** One mapping of a YAML file; a value that does not fit is refused with its place. */
export class YamlSection {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #placeOf: (path: readonly string[]) => string;
  readonly #path: readonly string[];

  constructor(value: unknown, placeOf: (path: readonly string[]) => string, path: readonly string[]) {
    this.#placeOf = placeOf;
    this.#path = path;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.refuse('', 'must be a mapping');
    this.#values = value as Record<string, unknown>;
  }

  refuse(key: string, problem: string): never {
    const path = key === '' ? this.#path : [...this.#path, key];
    throw new ConfigurationError(`${this.#placeOf(path)}: ${path.join('.') || 'the file'} ${problem}`);
  }

  /** The value as it is; undefined when it is absent. */
  raw(key: string): unknown {
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
  }

  keys(): string[] {
    return Object.keys(this.#values);
  }

  has(key: string): boolean {
    return (this.#values[key] ?? null) !== null;
  }

  onlyHas(allowed: readonly string[]): void {
    const unknown = this.keys().find((key) => !allowed.includes(key));
    if (unknown !== undefined) this.refuse(unknown, `is not a known key; the keys are ${allowed.join(', ')}`);
  }

  /** An absent mapping is an empty one. */
  section(key: string): YamlSection {
    return new YamlSection(this.#values[key] ?? {}, this.#placeOf, [...this.#path, key]);
  }

  /** What was read from a key that must be there. */
  needed<T>(key: string, found: T | null, what = ''): T {
    return found ?? this.refuse(key, `is missing${what}`);
  }

  text(key: string): string | null {
    const value = this.#values[key] ?? null;
    return value === null || typeof value === 'string' ? value : this.refuse(key, 'must be a string');
  }

  /** `allowed`: the values, for the message. */
  texts(key: string, isAllowed: (text: string) => boolean, allowed: readonly string[] = []): readonly string[] {
    const values = this.#values[key] ?? [];
    if (!Array.isArray(values)) this.refuse(key, 'must be a list of strings');
    const list = allowed.length === 0 ? '' : `; the values are ${allowed.join(', ')}`;
    return (values as unknown[]).map((value) => {
      if (typeof value !== 'string') this.refuse(key, 'must be a list of strings');
      return isAllowed(value) ? value : this.refuse(key, `has the unknown value '${value}'${list}`);
    });
  }

  /** Arguments of a command; numbers need no quotes. */
  words(key: string): readonly string[] {
    const values = this.#values[key] ?? [];
    if (!Array.isArray(values)) this.refuse(key, 'must be a list of arguments');
    return (values as unknown[]).map((value) =>
      typeof value === 'string' || typeof value === 'number'
        ? String(value)
        : this.refuse(key, 'must be a list of strings and numbers'),
    );
  }

  choice<T extends string>(key: string, allowed: readonly T[]): T | null {
    const value = this.text(key);
    if (value === null) return null;
    const found = allowed.find((each) => each === value);
    return found ?? this.refuse(key, `is '${value}' and must be one of ${allowed.join(', ')}`);
  }

  boolean(key: string): boolean | null {
    const value = this.#values[key] ?? null;
    return value === null || typeof value === 'boolean' ? value : this.refuse(key, 'must be true or false');
  }

  count(key: string, min: number, max: number): number {
    const value = this.#values[key];
    return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? value
      : this.refuse(key, `must be a whole number from ${min} to ${max}`);
  }

  /** A duration as Prometheus writes it, such as `1m30s`; 0 needs no unit. */
  duration_ms(key: string): number | null {
    const value = this.#values[key] ?? null;
    if (value === null || value === 0) return value;
    const units = Object.entries(DURATION_UNITS);
    const pattern = new RegExp(`^${units.map(([unit]) => `(?:(\\d{1,9})${unit})?`).join('')}$`);
    const parts = typeof value === 'string' && value !== '' ? pattern.exec(value === '0' ? '0s' : value) : null;
    if (parts === null) this.refuse(key, "must be a duration such as '1s' or '100ms'");
    return units.reduce((sum, [, unit_ms], i) => sum + Number(parts[i + 1] ?? 0) * unit_ms, 0);
  }

  /** PEM text, from `<key>` itself or the path in `<key>_file`. */
  textOrFile(key: string): { readonly text: string } | { readonly file: string } | null {
    const [text, path] = [this.text(key), this.text(`${key}_file`)];
    if (text !== null && path !== null) this.refuse(key, `and ${key}_file exclude each other`);
    if (path !== null) return { file: path };
    return text === null ? null : { text };
  }
}
