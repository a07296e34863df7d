import { createHash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { contentHash, openSource, readBytes } from './source-file.ts';
import { inTemporaryFolder } from '../testing/import-folder.ts';

const CONTENT = Buffer.from(`{"a": 1, "b": {"c": 2}}\n${'{"x": 1}\n'.repeat(200_000)}`);

async function readAll(path: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of readBytes(await openSource(path))) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

test.each([
  ['plain.jsonl', (bytes: Buffer) => bytes, null],
  ['packed.jsonl.gz', gzipSync, 'gzip'],
  ['packed.jsonl.zst', zstdCompressSync, 'zstd'],
  // By its content, whatever it is called.
  ['misnamed.jsonl', gzipSync, 'gzip'],
] as const)('%s is read and hashed by its content', (name, pack, compression) =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, name);
    await writeFile(path, pack(CONTENT));
    const source = await openSource(path);
    expect(source).toMatchObject({ name: name.replace(/\.(gz|zst)$/, ''), compression, folder });
    expect(source.head).toMatchObject({ keys: ['a', 'b'], isJsonLines: true, whole: false, firstObject: { a: 1 } });
    expect((await readAll(path)).equals(CONTENT)).toBe(true);
    const sha256 = createHash('sha256').update(CONTENT).digest('hex');
    expect(await contentHash(source)).toEqual({ sha256, bytes: CONTENT.length });
  }),
);

describe('refused', () => {
  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('a torn %s file', (name, pack) =>
    inTemporaryFolder(async (folder) => {
      const path = join(folder, 'torn');
      const noise = randomBytes(3_000_000);
      const packed = pack(noise);
      await writeFile(path, packed.subarray(0, packed.length - 20));
      await expect(readAll(path)).rejects.toThrow(`the ${name} data is torn or damaged`);
    }),
  );

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('a bomb of %s', (_name, pack) =>
    inTemporaryFolder(async (folder) => {
      const path = join(folder, 'bomb');
      await writeFile(path, pack(Buffer.alloc(20_000_000)));
      const source = await openSource(path);
      const read = async (): Promise<void> => {
        const limits = { ratio: 100, floorBytes: 1_000_000, bytes: 1e9 };
        for await (const piece of readBytes(source, {}, limits)) if (piece.length > 2 ** 22) throw new Error('large');
      };
      await expect(read()).rejects.toThrow('it unpacks to more than 100 times its');
    }),
  );

  test('what is missing, or a folder', () =>
    inTemporaryFolder(async (folder) => {
      await expect(openSource(join(folder, 'none'))).rejects.toThrow('cannot be read: it does not exist (ENOENT)');
      await mkdir(join(folder, 'dir'));
      await expect(openSource(join(folder, 'dir'))).rejects.toThrow('cannot be read');
    }));
});

test('the start of a file in UTF-16 is text; of one that is no text too', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'utf16.json');
    await writeFile(path, Buffer.from('\ufeff{"key": 1}', 'utf16le'));
    expect((await openSource(path)).head.keys).toEqual(['key']);
    await writeFile(path, Buffer.from([0xff, 0x00, 0x80, 0x0a]));
    expect((await openSource(path)).head).toMatchObject({ keys: [], firstObject: null });
  }));
