import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { Pixels } from './pixels.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** 8 bits per channel, RGB, deflate, the five filters, no interlace. */
const FORMAT = Buffer.from([8, 2, 0, 0, 0]);
/** A zlib stream with deflate and the default window. */
const ZLIB_HEAD = Buffer.from([0x78, 0x9c]);
const SUB_FILTER = 1;

/** A file in two parts: all rows but the last, and what completes it with a last row. */
export interface PngParts {
  readonly head: Buffer;
  readonly end: (lastRow: Uint8Array) => Buffer;
}

/** Compresses an image so that others with another last row cost no compression. Rows are RGB. */
export function encodePng({ width, height, rgb }: Pixels): PngParts {
  const rowBytes = 3 * width;
  const rows = Buffer.concat(
    Array.from({ length: height - 1 }, (_, y) => filtered(rgb.subarray(y * rowBytes, (y + 1) * rowBytes))),
  );
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  const flushed = deflateRawSync(rows, { finishFlush: constants.Z_SYNC_FLUSH });
  const head = Buffer.concat([
    SIGNATURE,
    chunk('IHDR', Buffer.concat([size, FORMAT])),
    chunk('IDAT', Buffer.concat([ZLIB_HEAD, flushed])),
  ]);
  const checksum = adler32(rows, 1);
  const last = chunk('IEND', Buffer.alloc(0));
  const end = (lastRow: Uint8Array): Buffer => {
    const row = filtered(lastRow);
    const total = Buffer.alloc(4);
    total.writeUInt32BE(adler32(row, checksum));
    return Buffer.concat([chunk('IDAT', Buffer.concat([deflateRawSync(row), total])), last]);
  };
  return { head, end };
}

/** A row with the filter's number before it, and each byte as the difference to that of the pixel to its left. */
function filtered(row: Uint8Array): Buffer {
  const bytes = Buffer.alloc(row.length + 1);
  bytes[0] = SUB_FILTER;
  for (let i = 0; i < row.length; i++) bytes[i + 1] = (row[i] ?? 0) - (i < 3 ? 0 : (row[i - 3] ?? 0));
  return bytes;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const bytes = Buffer.alloc(named.length + 8);
  bytes.writeUInt32BE(data.length, 0);
  named.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(named), named.length + 4);
  return bytes;
}

const LARGEST_PRIME = 65_521;
/** So many bytes cannot make the sums larger than 32 bits. */
const BYTES_OF_SUM = 3800;

/** The checksum of zlib streams (RFC 1950), continued from that of the bytes before. */
function adler32(bytes: Uint8Array, before: number): number {
  let low = before & 0xffff;
  let high = before >>> 16;
  for (let from = 0; from < bytes.length; from += BYTES_OF_SUM) {
    const end = Math.min(bytes.length, from + BYTES_OF_SUM);
    for (let i = from; i < end; i++) {
      low += bytes[i] ?? 0;
      high += low;
    }
    low %= LARGEST_PRIME;
    high %= LARGEST_PRIME;
  }
  return ((high << 16) | low) >>> 0;
}
