import { ImportRefusal } from '../importer.ts';
import type { ImportNotes } from '../import-notes.ts';
import { JsonTextError } from '../json-text.ts';
import type { LargeNumbers } from '../json-text.ts';
import type { Reading, SourceFile } from '../source-file.ts';
import { JsonSplitter } from './json-splitter.ts';
import type { LongList } from './long-list.ts';
import { readUtf8 } from './read-range.ts';

/**
 * A file that is one JSON value of any size: what it holds besides its long lists, whose elements go to `lists` while the
 * file is read. Throws `ImportRefusal` when it is cut off or no JSON (the message says where), and what `readBytes` does.
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
    if (notNumbers > 0) notes.say(`${file.name}: ${notNumbers} × NaN or Infinity were read as unknown`);
    return value;
  } catch (error) {
    if (error instanceof JsonTextError) throw new ImportRefusal(`${file.name}: ${error.message}`);
    throw error;
  }
}
