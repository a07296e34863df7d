import { statSync, readFileSync } from 'node:fs';
import { codeOf, ConfigurationError, reasonOf } from '../errors/expected-error.ts';

/** The stamp of a missing file. */
export const ABSENT_FILE = 'absent';

/**
 * Identifies a state of a file without reading it: its inode (a replaced file has a new one), size and modification
 * time. `ABSENT_FILE` if the file does not exist. Takes microseconds; asynchronous, it would take ten times that.
 */
export function fileStamp(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? ABSENT_FILE : `${stat.ino}-${stat.size}-${stat.mtimeMs}-${stat.ctimeMs}`;
  } catch (error) {
    return codeOf(error) ?? 'unknown';
  }
}

/** Returns the text of a file. Throws a `ConfigurationError` if it cannot be read. */
export type ReadText = (path: string) => string;

const MAX_BYTES = 1_000_000;

/**
 * A value that is made of files and made again when one of them has changed. A change that is not valid is reported once,
 * and the value from before it stays in use.
 */
export class Reloaded<T> {
  readonly #make: (read: ReadText, previous: T | null) => T;
  readonly #problem: (line: string) => void;
  #value: T;
  /** The state in which each file was read. */
  #stamps: ReadonlyMap<string, string> = new Map();

  /**
   * `make` reads every file by its first parameter and throws a `ConfigurationError` if the value is not valid; `previous` is
   * the value in use, null at first. `problem` receives one line for each later change that is not valid.
   */
  constructor(make: (read: ReadText, previous: T | null) => T, problem: (line: string) => void) {
    this.#make = make;
    this.#problem = problem;
    this.#value = this.#made(null);
  }

  /** The value by the files as they are now. */
  current(): T {
    if ([...this.#stamps].every(([path, stamp]) => fileStamp(path) === stamp)) return this.#value;
    try {
      this.#value = this.#made(this.#value);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      this.#problem(`${error.message}; the previous configuration stays in use`);
    }
    return this.#value;
  }

  #made(previous: T | null): T {
    const stamps = new Map<string, string>();
    this.#stamps = stamps;
    return this.#make((path) => {
      // Before reading: a file that changes meanwhile is read again.
      stamps.set(path, fileStamp(path));
      const text = readText(path);
      // An editor empties a file before it writes it; for a moment an empty one must not lift all restrictions.
      if (previous !== null && text.trim() === '') throw new ConfigurationError(`${path} is empty`);
      return text;
    }, previous);
  }
}

function readText(path: string): string {
  try {
    const stats = statSync(path);
    if (stats.isFile() && stats.size <= MAX_BYTES) return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`${path} cannot be read: ${reasonOf(error)}`);
  }
  throw new ConfigurationError(`${path} must be a regular file of at most ${MAX_BYTES} bytes`);
}
