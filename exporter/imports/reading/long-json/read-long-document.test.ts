import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openSource } from '../source-file.ts';
import { inTemporaryFolder } from '../../testing/import-folder.ts';
import { readRange, readUtf8 } from './read-long-document.ts';

async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece));
  return Buffer.concat(all).toString('utf8');
}

const TEXT = `é𝄞 ${'0123456789'.repeat(20_000)} end`;

test.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with a mark', Buffer.from(`\uFEFF${TEXT}`)],
  ['UTF-16', Buffer.from(`\uFEFF${TEXT}`, 'utf16le')],
  ['UTF-16, big end first', Buffer.from(`\uFEFF${TEXT}`, 'utf16le').swap16()],
])('%s is UTF-8, and a part of it is decoded from its bytes', (_, bytes) =>
  inTemporaryFolder(async (folder) => {
    await writeFile(join(folder, 'text'), bytes);
    const file = await openSource(join(folder, 'text'));
    expect(await textOf(readUtf8(file, {}))).toBe(TEXT);
    for (const [start, end] of [
      [0, 2],
      [7, 100_000],
      [65_536, 131_072],
      [200_000, 200_011],
    ] as const) {
      const expected = Buffer.from(TEXT).subarray(start, end).toString('utf8');
      expect(await textOf(readRange(file, { start, end }, {}))).toBe(expected);
    }
  }),
);
