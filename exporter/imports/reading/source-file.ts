import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { reasonOf } from '../../errors/expected-error.ts';
import { ImportRefusal } from '../import-notes.ts';
import { keysOf } from './json-text.ts';

/** How a file begins, for recognizing it: at most 64 KiB. */
interface FileHead {
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
function fileHead(bytes: Uint8Array, whole: boolean): FileHead {
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
  if (!/^[ \t\r\n]*\{/.test(text)) return keys;
  for (const { literal, depth, isFirst } of keysOf(text)) {
    const isNextObject = isFirst && depth === 1 && keys.length > 0;
    if (isNextObject || keys.length === MAX_KEYS) break;
    if (depth === 1) keys.push(unquoted(literal));
  }
  return keys;
}

function unquoted(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    // A raw control character in a key: no JSON, but still a name to look at.
    return literal.slice(1, -1);
  }
}

/** One file that may be imported. Content is always the unpacked one. */
export interface SourceFile {
  /** Absolute. */
  readonly path: string;
  /** Without the folder, and without `.gz` or `.zst`. */
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  readonly compression: Compression | null;
  /** As stored. */
  readonly bytes: number;
  readonly head: FileHead;
}

export type Compression = 'gzip' | 'zstd';

/** Who reads: how far it has come, and whether it is to stop. */
export interface Reading {
  readonly signal?: AbortSignal;
  /** Receives the number of stored bytes as they are read. */
  readonly progress?: (bytes: number) => void;
}

const CHUNK_BYTES = 1 << 20;
const HEAD_BYTES = 1 << 16;

/** What a packed file may come to. */
export interface UnpackLimits {
  /** So many times its size, once it is above `floorBytes`; JSON of real runs stays below 60. */
  readonly ratio: number;
  readonly floorBytes: number;
  readonly bytes: number;
}

const UNPACK_LIMITS: UnpackLimits = { ratio: 300, floorBytes: 256 * 2 ** 20, bytes: 256 * 2 ** 30 };

const MAGIC: readonly (readonly [Compression, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
];

/** Looks at a file: what it is packed with (by its first bytes) and how it begins. Throws `ImportRefusal`. */
export async function openSource(path: string): Promise<SourceFile> {
  const absolute = resolve(path);
  try {
    const { size } = await stat(absolute);
    const compression = compressionOf(await firstBytes(storedBytes({ path: absolute, bytes: 4 }, {}), 4));
    const plain = { path: absolute, compression, bytes: size };
    const name = basename(absolute).replace(compression === null ? /$^/ : /\.(gz|gzip|zst|zstd)$/i, '');
    const start = await startOf(plain);
    const head = fileHead(start.bytes, start.whole);
    return { ...plain, name, folder: dirname(absolute), head };
  } catch (error) {
    throw error instanceof ImportRefusal ? error : new ImportRefusal(`cannot be read: ${reasonOf(error)}`);
  }
}

/**
 * The unpacked content in pieces of at most 1 MB; each is only good until the next is requested. Throws `ImportRefusal`
 * when it cannot be read, is torn or unpacks to more than a result can be, and the signal's reason when it was aborted.
 */
export async function* readBytes(
  file: Pick<SourceFile, 'path' | 'compression' | 'bytes'>,
  reading: Reading = {},
  limits: UnpackLimits = UNPACK_LIMITS,
): AsyncGenerator<Buffer> {
  const unpack = unpacker(file.compression);
  let unpacked = 0;
  try {
    for await (const bytes of unpack === null ? storedBytes(file, reading) : unpackedBytes(file, unpack, reading)) {
      reading.signal?.throwIfAborted();
      unpacked += bytes.length;
      if (unpack !== null) checkUnpacked(unpacked, file.bytes, limits);
      yield bytes;
    }
  } catch (error) {
    if (error instanceof ImportRefusal || reading.signal?.aborted === true) throw error;
    const what = file.compression === null ? 'cannot be read' : `the ${file.compression} data is torn or damaged`;
    throw new ImportRefusal(`${what} after ${unpacked} bytes of content: ${reasonOf(error)}`);
  }
}

/**
 * One buffer is used again and again, and is no larger than the file: fresh or large buffers of many files are garbage
 * faster than they are collected.
 */
async function* storedBytes(
  { path, bytes }: Pick<SourceFile, 'path' | 'bytes'>,
  { progress }: Reading,
): AsyncGenerator<Buffer> {
  const handle = await open(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(bytes, 1)));
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return;
      progress?.(bytesRead);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function* unpackedBytes(
  file: Pick<SourceFile, 'path'>,
  unpack: Transform,
  { progress }: Reading,
): AsyncGenerator<Buffer> {
  const stored = createReadStream(file.path, { highWaterMark: CHUNK_BYTES / 4 });
  stored.on('data', (chunk) => progress?.(chunk.length));
  // An error of the file ends the unpacker with it; its own errors come out of the loop.
  stored.on('error', (error) => unpack.destroy(error));
  stored.pipe(unpack);
  try {
    for await (const piece of unpack) yield piece as Buffer;
  } finally {
    stored.destroy();
    unpack.destroy();
  }
}

/** SHA-256 of the unpacked content, in hex, and how long that is: a packed copy is the same result. */
export async function contentHash(
  file: SourceFile,
  reading: Reading = {},
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of readBytes(file, reading)) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

function checkUnpacked(unpacked: number, stored: number, { ratio, floorBytes, bytes }: UnpackLimits): void {
  const isBomb = unpacked > floorBytes && unpacked > ratio * Math.max(1, stored);
  if (unpacked > bytes || isBomb) {
    throw new ImportRefusal(
      `it unpacks to more than ${ratio} times its ${stored} bytes: it is not a result; if it is, unpack it first`,
    );
  }
}

function unpacker(compression: Compression | null): Transform | null {
  switch (compression) {
    case 'gzip':
      return createGunzip({ chunkSize: CHUNK_BYTES });
    case 'zstd':
      return createZstdDecompress({ chunkSize: CHUNK_BYTES });
    case null:
      return null;
  }
}

function compressionOf(start: Buffer): Compression | null {
  return MAGIC.find(([, magic]) => magic.every((byte, i) => start[i] === byte))?.[0] ?? null;
}

async function startOf(file: Pick<SourceFile, 'path' | 'compression' | 'bytes'>): Promise<{
  readonly bytes: Buffer;
  readonly whole: boolean;
}> {
  const bytes = await firstBytes(readBytes(file), HEAD_BYTES + 1);
  return { bytes: bytes.subarray(0, HEAD_BYTES), whole: bytes.length <= HEAD_BYTES };
}

async function firstBytes(pieces: AsyncIterable<unknown>, length: number): Promise<Buffer> {
  const kept: Buffer[] = [];
  let have = 0;
  for await (const piece of pieces) {
    kept.push(Buffer.from(piece as Buffer));
    have += kept.at(-1)?.length ?? 0;
    if (have >= length) break;
  }
  return Buffer.concat(kept).subarray(0, length);
}
