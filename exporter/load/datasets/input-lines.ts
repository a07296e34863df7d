import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
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

/** A file's texts with the hash of its content. */
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

/** Of a file that gzip compressed (RFC 1952). */
const isGzip = (beginning: Buffer): boolean => beginning[0] === 0x1f && beginning[1] === 0x8b;

/**
 * Reads a file piece by piece and returns the SHA-256 of its bytes; of a file that gzip compressed both are what it
 * contains.
 */
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
  let bytes = 0;
  try {
    for await (const piece of contentOf(file)) {
      bytes += piece.length;
      if (bytes > limits.fileBytes)
        throw new ConfigurationError(`${file}: it contains more than ${limits.fileBytes} bytes, which is the limit`);
      hash.update(piece);
      take(piece);
    }
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new ConfigurationError(`${file}: ${code.startsWith('Z_') ? `gzip cannot unpack it (${message})` : message}`);
  }
  return hash.digest('hex');
}

/** What a file contains, in pieces. */
function contentOf(file: string): AsyncIterable<Buffer> {
  const bytes = createReadStream(file, { highWaterMark: 2 ** 20 });
  const isCompressed = isGzip(firstBytes(file, 2));
  // Errors come with the pieces.
  return (isCompressed ? pipeline(bytes, createGunzip(), () => undefined) : bytes) as AsyncIterable<Buffer>;
}

function firstBytes(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}

/** Names of the files of sessions that are read of a folder. */
export const SESSION_FILES = /\.jsonl?(?:\.gz)?$/;

/** The file itself, or those of a folder whose names match, in their order; throws when there is none. */
export async function filesIn(path: string, names: RegExp): Promise<readonly string[]> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return [path];
  const found = (await readdir(path)).filter((name) => names.test(name)).sort();
  if (found.length === 0) throw new ConfigurationError(`${path}: the folder has no files to send`);
  return found.map((name) => join(path, name));
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

/** Of a compressed file: at most 1,032 times as much of its content. */
const FIRST_COMPRESSED_BYTES = 1 << 16;

/** Null: a folder; undefined: it cannot be read. */
export function beginningOf(path: string): string | null | undefined {
  try {
    if (statSync(path).isDirectory()) return null;
    const bytes = firstBytes(path, FIRST_BYTES);
    const content = isGzip(bytes)
      ? gunzipSync(bytes.subarray(0, FIRST_COMPRESSED_BYTES), { finishFlush: constants.Z_SYNC_FLUSH })
      : bytes;
    return content.toString('utf8').replace(/^\uFEFF/, '');
  } catch {
    return undefined;
  }
}
