import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GUIDELLM } from './guidellm/guidellm.ts';
import { ImportRefusal } from './import-notes.ts';
import type { Importer } from './importer.ts';
import { SGLANG } from './sglang/sglang.ts';
import { openSource } from './reading/source-file.ts';
import { inTemporaryFolder } from './testing/import-folder.ts';
import { TRTLLM } from './trtllm/trtllm.ts';
import { VLLM } from './vllm/vllm.ts';

const FOLDER = new URL('.', import.meta.url).pathname;

/** Replacements for a value: of every kind, and out of every range. */
const ODD: readonly unknown[] = [
  null,
  -1,
  0,
  1e308,
  2 ** 53,
  0.5,
  '',
  'NaN',
  '12',
  true,
  [],
  {},
  [[]],
  [null],
  { p50: [] },
];

/** The document with a few elements of each list: as many kinds of values in a smaller space. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 4).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortened(each)]));
}

/** A value of the document, chosen by the numbers, is replaced or removed. */
function changed(value: unknown, path: readonly number[], odd: unknown): unknown {
  const [step = 0, ...rest] = path;
  if (rest.length === 0 || typeof value !== 'object' || value === null) return odd;
  if (Array.isArray(value)) {
    if (value.length === 0) return odd;
    const at = step % value.length;
    const list: readonly unknown[] = value;
    return list.map((each, i) => (i === at ? changed(each, rest, odd) : each));
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return odd;
  const at = step % entries.length;
  return Object.fromEntries(entries.map(([key, each], i) => [key, i === at ? changed(each, rest, odd) : each]));
}

/** Reads all that the importer makes of the text; it may refuse. */
async function readAll(importer: Importer, path: string): Promise<number> {
  const file = await openSource(path);
  const recognition = importer.recognize(file);
  if (recognition === null || recognition.ignored !== undefined) return 0;
  const files = [{ file, recognition }];
  const groups = importer.group?.(files) ?? [{ files, name: file.name, group_id: null, step: null, repeat: null }];
  const context = { timeZone: 'UTC', mapping: null, signal: new AbortController().signal, progress: () => undefined };
  let runs = 0;
  for (const group of groups) {
    try {
      for await (const run of importer.read(group, context)) {
        runs += 1;
        for await (const record of run.records ?? []) expect(record.index).toBeGreaterThanOrEqual(0);
        // Everything that is kept can be written as JSON and read again as it was.
        const kept = { start: run.start, key: run.key, stated: run.stated.measures, notes: run.notes.lines };
        expect(JSON.parse(JSON.stringify(kept))).toEqual(kept);
      }
    } catch (error) {
      if (!(error instanceof ImportRefusal)) throw error;
    }
  }
  return runs;
}

describe('a result with a value that is not as it should be is read or refused', () => {
  test.each<readonly [string, Importer, string]>([
    ['vllm', VLLM, 'vllm/fixtures/detailed.json'],
    ['vllm chat', VLLM, 'vllm/fixtures/chat-errors.json'],
    ['vllm summary', VLLM, 'vllm/fixtures/summary-only.json'],
    ['sglang', SGLANG, 'sglang/fixtures/errors.jsonl'],
    ['trtllm-bench report', TRTLLM, 'trtllm/fixtures/report.json'],
    ['trtllm-bench requests', TRTLLM, 'trtllm/fixtures/requests.json'],
    ['guidellm 2', GUIDELLM, 'guidellm/fixtures/v2-errors.json'],
    ['guidellm 0.3', GUIDELLM, 'guidellm/fixtures/v0.json'],
  ])('%s', (_, importer, fixture) =>
    inTemporaryFolder(async (folder) => {
      const text = await readFile(join(FOLDER, fixture), 'utf8');
      const whole = shortened(JSON.parse(text.replaceAll('Infinity', 'null')));
      const path = join(folder, 'result.json');
      await writeFile(path, JSON.stringify(whole));
      expect(await readAll(importer, path)).toBeGreaterThan(0);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(1000), { minLength: 2, maxLength: 9 }),
          fc.constantFrom(...ODD),
          async (steps, odd) => {
            await writeFile(path, JSON.stringify(changed(whole, steps, odd)));
            await readAll(importer, path);
          },
        ),
        { numRuns: 6 },
      );
    }),
  );
});
