import { createRequire } from 'node:module';
import { crc32, gzipSync, inflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { dataOf, mediaBytes, mediaTypeOf } from './media-urls.ts';
import { syntheticImages, type ImageFormat } from './synthetic-images.ts';

interface Decoded {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const jpeg = createRequire(import.meta.url)('jpeg-js') as {
  decode(file: Buffer, options: { useTArray: true; formatAsRGBA: false }): Decoded;
};

/** As the PNG specification has it, for 8-bit RGB without interlace and rows of the filter Sub. */
function decodePng(file: Buffer): Decoded {
  expect(file.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  const parts: Buffer[] = [];
  let size = [0, 0];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    const end = at + 8 + file.readUInt32BE(at);
    expect(file.readUInt32BE(end)).toBe(crc32(file.subarray(at + 4, end)));
    const type = file.toString('latin1', at + 4, at + 8);
    if (type === 'IHDR') {
      size = [file.readUInt32BE(at + 8), file.readUInt32BE(at + 12)];
      expect([...file.subarray(at + 16, end)]).toEqual([8, 2, 0, 0, 0]);
    }
    if (type === 'IDAT') parts.push(file.subarray(at + 8, end));
  }
  // Also checks the checksum of the stream.
  const rows = inflateSync(Buffer.concat(parts));
  const [width = 0, height = 0] = size;
  const data = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++) {
    expect(rows[y * (3 * width + 1)]).toBe(1);
    for (let i = 0; i < 3 * width; i++) {
      const left = i < 3 ? 0 : (data[y * 3 * width + i - 3] ?? 0);
      data[y * 3 * width + i] = (rows[y * (3 * width + 1) + 1 + i] ?? 0) + left;
    }
  }
  return { width, height, data };
}

const fileOf = (url: string): Buffer => Buffer.from(dataOf(url)?.base64 ?? '', 'base64');
const DECODE: Readonly<Record<ImageFormat, (file: Buffer) => Decoded>> = {
  png: decodePng,
  jpeg: (file) => jpeg.decode(file, { useTArray: true, formatAsRGBA: false }),
};

describe.each(['jpeg', 'png'] as const)('synthetic %s', (format) => {
  const size = { width: 130, height: 70 };
  const make = syntheticImages([size], format, 1);
  const files = Array.from({ length: 40 }, (_, i) => fileOf(make(`image ${i}`)));

  test('is a file of that format and size, which decoders accept', () => {
    expect(mediaTypeOf('images', files[0] ?? Buffer.alloc(0))).toBe(`image/${format}`);
    for (const file of files) expect(DECODE[format](file)).toMatchObject(size);
  });

  test('has pixels that no other image has, although few are drawn', () => {
    const pixels = files.map((file) => Buffer.from(DECODE[format](file).data).toString('base64'));
    expect(new Set(pixels).size).toBe(files.length);
  });

  test('is the same for the same key and seed, and does not compress to nothing', () => {
    expect(syntheticImages([size], format, 1)('image 7')).toBe(make('image 7'));
    expect(syntheticImages([size], format, 2)('image 7')).not.toBe(make('image 7'));
    for (const file of files) expect(gzipSync(file).length).toBeGreaterThan(0.9 * file.length);
  });

  test('its bytes are known without decoding it', () => {
    for (const [i, file] of files.entries()) expect(mediaBytes(make(`image ${i}`))).toBe(file.length);
    expect(mediaBytes('https://example.com/a.png')).toBeNull();
  });

  test('of several sizes each image has one', () => {
    const both = syntheticImages([size, { width: 32, height: 48 }], format, 1);
    const widths = Array.from({ length: 20 }, (_, i) => DECODE[format](fileOf(both(`${i}`))).width);
    expect(new Set(widths)).toEqual(new Set([130, 32]));
  });
});
