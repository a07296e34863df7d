import { Readable } from 'node:stream';
import type { BenchResult } from '../serving-bench/bench-results.ts';
import { isObject } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';
import { readRequestLists } from '../serving-bench/listed-survey.ts';

/** A value as the one result of a file. */
export async function benchResultOf(value: Readonly<Record<string, unknown>>): Promise<BenchResult> {
  const bytes = Buffer.from(JSON.stringify(value));
  const { value: rest, lists } = await readRequestLists(() => Readable.from([bytes]));
  if (!isObject(rest)) throw new Error('the value is no object');
  return { value: rest, lists, part: null, sha256: null, notes: new ImportNotes() };
}
