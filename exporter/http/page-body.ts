import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { PagePieces } from '../publish/metrics-page.ts';

/** Repetitive text shrinks to a tenth at the fastest level, and the core may be shared with the measurement. */
const COMPRESSION_LEVEL = 1;
/** Pieces are a few lines each: one by one, each would cost as much as many of them. */
const BLOCK_BYTES = 64 * 1024;

export const bytesOf = (pieces: PagePieces): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** The bytes of the parts in blocks, so that a page of many runs never exists as a whole. */
export function inBlocks(...parts: readonly PagePieces[]): Readable {
  return Readable.from(blocks(parts), { objectMode: false });
}

/** Rejects when zlib does. */
export async function gzipped(pieces: PagePieces): Promise<Buffer> {
  const gzip = createGzip({ level: COMPRESSION_LEVEL });
  const [whole] = await Promise.all([buffer(gzip), pipeline(inBlocks(pieces), gzip)]);
  return whole;
}

function* blocks(parts: readonly PagePieces[]): Generator<Buffer> {
  let group: Buffer[] = [];
  let length = 0;
  for (const pieces of parts) {
    for (const piece of pieces) {
      if (length + piece.length > BLOCK_BYTES && length > 0) {
        yield joined(group);
        group = [];
        length = 0;
      }
      group.push(piece);
      length += piece.length;
    }
  }
  if (length > 0) yield joined(group);
}

/** A piece that is as large as a block is not copied. */
function joined(group: readonly Buffer[]): Buffer {
  const [first] = group;
  return group.length === 1 && first !== undefined ? first : Buffer.concat(group);
}
