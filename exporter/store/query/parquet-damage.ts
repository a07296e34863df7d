import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegularFileSync } from '../../files/read-regular-file.ts';
import { reasonOf } from '../../errors/store-errors.ts';

const MAGIC = 'PAR1';
/** The magic number, the length of the footer and the magic number again. */
const LEAST_BYTES = 12;

/** The problem with the frame of a Parquet file, without reading its content; null if there is none. */
export function parquetDamage(path: string): string | null {
  try {
    const file = openRegularFileSync(path);
    try {
      return frameDamage(file, fstatSync(file).size);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return reasonOf(error);
  }
}

function frameDamage(file: number, size: number): string | null {
  if (size < LEAST_BYTES) return 'it is too short for a Parquet file';
  const head = Buffer.alloc(4);
  const tail = Buffer.alloc(8);
  readSync(file, head, 0, 4, 0);
  readSync(file, tail, 0, 8, size - 8);
  if (head.toString('latin1') !== MAGIC || tail.toString('latin1', 4) !== MAGIC) {
    return 'it is not a Parquet file, or truncated';
  }
  return tail.readUInt32LE(0) + LEAST_BYTES > size ? 'its footer is damaged' : null;
}
