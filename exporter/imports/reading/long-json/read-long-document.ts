import { TextDecoder } from 'node:util';
import { ImportRefusal, type ImportNotes } from '../../import-notes.ts';
import { JsonTextError } from '../json-text.ts';
import type { LargeNumbers } from '../json-text.ts';
import { readBytes } from '../source-file.ts';
import type { Reading, SourceFile } from '../source-file.ts';
import { JsonSplitter } from './json-splitter.ts';
import type { LongList } from './json-splitter.ts';

/**
 * A file that is one JSON value of any size: what it holds besides its long lists, whose elements go to `lists` while
 * the file is read. Throws `ImportRefusal` when it is cut off or not JSON (the message states the position), and the
 * errors of `readBytes`.
 */
export async function readLongDocument(
  file: SourceFile,
  lists: readonly LongList[],
  notes: ImportNotes,
  reading: Reading,
  largeNumbers: LargeNumbers = 'rounded',
): Promise<unknown> {
  const splitter = new JsonSplitter(lists, largeNumbers);
  try {
    for await (const piece of readUtf8(file, reading)) splitter.feed(piece);
    const { value, notNumbers } = splitter.finish();
    if (notNumbers > 0) notes.add(`${file.name}: ${notNumbers} × NaN or Infinity were read as unknown`);
    return value;
  } catch (error) {
    throw asRefusal(error, file);
  }
}

/**
 * The elements of one list of such a file, some at a time, read from the file as they are consumed; `others` are long
 * lists that are passed over. Throws as `readLongDocument`.
 */
export async function* readElements(
  file: SourceFile,
  path: readonly string[],
  others: readonly (readonly string[])[],
  reading: Reading,
  largeNumbers: LargeNumbers = 'rounded',
): AsyncGenerator<readonly unknown[]> {
  let found: (readonly unknown[])[] = [];
  const passedOver = others.map((other) => ({ path: other, elements: null }));
  const splitter = new JsonSplitter(
    [{ path, elements: (values) => void found.push(values) }, ...passedOver],
    largeNumbers,
  );
  try {
    for await (const piece of readUtf8(file, reading)) {
      splitter.feed(piece);
      yield* found;
      found = [];
    }
    splitter.finish();
  } catch (error) {
    throw asRefusal(error, file);
  }
}

function asRefusal(error: unknown, file: SourceFile): unknown {
  return error instanceof JsonTextError ? new ImportRefusal(`${file.name}: ${error.message}`) : error;
}

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** What is made of a larger piece at once would be garbage faster than it is collected. */
const PIECE_BYTES = 1 << 16;

/** A stretch of a file's text, in bytes of UTF-8 without a byte order mark. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The file's text as UTF-8 without a byte order mark, in pieces that are only good until the next. Throws as `readBytes`. */
export async function* readUtf8(
  file: Pick<SourceFile, 'path' | 'compression' | 'bytes'>,
  reading: Reading,
): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | null | undefined;
  for await (const piece of readBytes(file, reading)) {
    const isFirst = decoder === undefined;
    if (decoder === undefined) decoder = utf16Decoder(piece);
    if (decoder !== null) yield* inPieces(Buffer.from(decoder.decode(piece, { stream: true })));
    else yield* inPieces(isFirst && piece.subarray(0, 3).equals(UTF8_MARK) ? piece.subarray(3) : piece);
  }
}

/** The same for a part of it. What is before it is read over. */
export async function* readRange(
  file: Pick<SourceFile, 'path' | 'compression' | 'bytes'>,
  { start, end }: ByteRange,
  reading: Reading,
): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const piece of readUtf8(file, reading)) {
    const wanted = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
    if (wanted.length > 0) yield wanted;
    at += piece.length;
    if (at >= end) return;
  }
}

function* inPieces(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) yield bytes.subarray(from, from + PIECE_BYTES);
}

function utf16Decoder([first, second]: Buffer): TextDecoder | null {
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le');
  return first === 0xfe && second === 0xff ? new TextDecoder('utf-16be') : null;
}
