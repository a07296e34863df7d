import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readLineBlocks } from './read-lines.ts';
import { openSource } from './source-file.ts';
import { inTemporaryFolder } from '../testing/import-folder.ts';

/** One piece of a file; a line's end may fall on any byte around it. */
const PIECE = 1 << 20;

interface Read {
  readonly lines: string[];
  readonly numbers: number[];
  readonly long: number[];
  readonly open: boolean;
}

async function read(folder: string, text: string | Buffer, longest?: number): Promise<Read> {
  const path = join(folder, 'lines');
  await writeFile(path, text);
  const found: Read = { lines: [], numbers: [], long: [], open: false };
  let open = false;
  const onLong = ({ number }: { number: number }): void => void found.long.push(number);
  for await (const block of readLineBlocks(await openSource(path), {}, onLong, longest)) {
    for (let i = 0; i < block.edges.length; i += 2) {
      found.lines.push(block.bytes.toString('utf8', block.edges[i], block.edges[i + 1]));
      found.numbers.push(block.firstNumber + i / 2);
    }
    open = block.endsOpen;
  }
  return { ...found, open };
}

test('lines around the edges of the pieces in which a file is read are whole', () =>
  inTemporaryFolder(async (folder) => {
    for (const length of [PIECE - 2, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 3]) {
      const text = `first\n${'x'.repeat(length)}\nlast\n`;
      expect((await read(folder, text)).lines.map((line) => line.length)).toEqual([5, length, 4]);
    }
  }));

test('property: the same as splitting at line feeds, numbers included', () =>
  inTemporaryFolder((folder) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3 * PIECE }), fc.constantFrom('\n', '\r\n')), { maxLength: 4 }),
        fc.boolean(),
        async (parts, ends) => {
          const text =
            parts.map(([length, end]) => `${'ab€'.repeat(length / 5)}${end}`).join('') + (ends ? '' : 'rest');
          const expected = text.split('\n');
          if (expected.at(-1) === '') expected.pop();
          const { lines, numbers, open } = await read(folder, text);
          expect(lines).toEqual(expected.map((line) => line.replace(/\r$/, '')));
          expect(numbers).toEqual(expected.map((_, i) => i + 1));
          expect(open).toBe(!ends);
        },
      ),
      { numRuns: 25 },
    ),
  ));

test('a byte order mark is not part of the first line; a line above the limit is noted and left out', () =>
  inTemporaryFolder(async (folder) => {
    expect((await read(folder, '\ufeffone\ntwo')).lines).toEqual(['one', 'two']);
    const long = `a\n${'x'.repeat(3 * PIECE)}\nb\n`;
    expect(await read(folder, long, 1000)).toMatchObject({ lines: ['a', 'b'], numbers: [1, 3], long: [2] });
  }));
