import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { ConfigurationError } from '../../errors/expected-error.ts';

export interface InputLimits {
  readonly fileBytes: number;
  readonly lineBytes: number;
}

/** Most inputs are held in memory: a larger file must be split. */
export const INPUT_LIMITS: InputLimits = { fileBytes: 2 * 2 ** 30, lineBytes: 32 * 2 ** 20 };

/** One line, or one element of a JSON array. */
export interface InputText {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly text: string;
}

/** A file's texts with the hash of its bytes. */
export interface InputTexts {
  readonly texts: readonly InputText[];
  readonly sha256: string;
}

const LF = 10;

/**
 * Reads the non-blank lines of a file. Throws a `ConfigurationError` that begins with the file, or the file and line.
 */
export async function readLines(file: string, limits = INPUT_LIMITS): Promise<InputTexts> {
  const texts: InputText[] = [];
  const sha256 = await eachLine(file, (line) => texts.push(line), limits);
  return { texts, sha256 };
}

/** Calls `take` with each non-blank line, of which none is kept, and returns the SHA-256 of the file; throws as above. */
export async function eachLine(file: string, take: (line: InputText) => void, limits = INPUT_LIMITS): Promise<string> {
  const keep = (line: number, text: string): void => {
    if (text.trim() !== '') take({ line, text });
  };
  const splitter = new LineSplitter(file, limits.lineBytes, keep);
  const sha256 = await readPieces(file, limits, (bytes) => splitter.push(bytes));
  splitter.end();
  return sha256;
}

/** Reads a file piece by piece and returns the SHA-256 of its bytes. */
export async function readPieces(file: string, limits: InputLimits, take: (bytes: Buffer) => void): Promise<string> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigurationError(
      error.code === 'ENOENT' ? `${file}: the file does not exist` : `${file}: ${error.message}`,
    );
  });
  if (!found.isFile()) throw new ConfigurationError(`${file}: not a file`);
  if (found.size > limits.fileBytes)
    throw new ConfigurationError(`${file}: ${found.size} bytes exceed the limit of ${limits.fileBytes}`);
  const hash = createHash('sha256');
  try {
    for await (const piece of createReadStream(file, { highWaterMark: 2 ** 20 })) {
      hash.update(piece as Buffer);
      take(piece as Buffer);
    }
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`${file}: ${(error as Error).message}`);
  }
  return hash.digest('hex');
}

/** Splits bytes into lines; a byte order mark and the CR before an LF are dropped. */
class LineSplitter {
  readonly #file: string;
  readonly #limit: number;
  readonly #line: (line: number, text: string) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #number = 1;

  constructor(file: string, limit: number, line: (line: number, text: string) => void) {
    this.#file = file;
    this.#limit = limit;
    this.#line = line;
  }

  push(bytes: Buffer): void {
    let from = 0;
    for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, from)) {
      this.#add(bytes.subarray(from, at));
      this.end();
      from = at + 1;
    }
    this.#add(bytes.subarray(from));
  }

  /** The current line has ended. */
  end(): void {
    const [first, ...more] = this.#pieces;
    const bytes = first === undefined || more.length > 0 ? Buffer.concat(this.#pieces) : first;
    const text = bytes.toString('utf8');
    this.#line(this.#number, this.#number === 1 ? text.replace(/^\uFEFF/, '') : text);
    this.#pieces = [];
    this.#bytes = 0;
    this.#number++;
  }

  #add(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limit)
      throw new ConfigurationError(`${this.#file}:${this.#number}: the line is longer than ${this.#limit} bytes`);
    if (bytes.length > 0) this.#pieces.push(bytes);
  }
}

/** Enough for the first line: hash ids of a long prompt are a few kilobytes. */
const FIRST_BYTES = 1 << 20;

/** The first line that is not blank; empty when the file cannot be read. */
export const firstLineOf = (path: string): string => lineOf(beginningOf(path) ?? '');

/** The first line of a text that is not blank. */
export const lineOf = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? '';

/** Null: a folder; undefined: it cannot be read. */
export function beginningOf(path: string): string | null | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    if (fstatSync(file).isDirectory()) return null;
    const bytes = Buffer.alloc(FIRST_BYTES);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, FIRST_BYTES, 0)).replace(/^\uFEFF/, '');
  } finally {
    closeSync(file);
  }
}
