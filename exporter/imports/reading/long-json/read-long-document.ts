import { ImportRefusal } from '../../import-refusal.ts';
import type { ImportNotes } from '../../import-notes.ts';
import { JsonTextError } from '../json-text.ts';
import type { LargeNumbers } from '../json-text.ts';
import type { Reading, SourceFile } from '../source-file.ts';
import { JsonSplitter } from './json-splitter.ts';
import type { LongList } from './long-list.ts';
import { readUtf8 } from './read-range.ts';

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
