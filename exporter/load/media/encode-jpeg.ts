import { createRequire } from 'node:module';
import type { Pixels } from './pixels.ts';

interface JpegEncoder {
  encode(image: { data: Uint8Array; width: number; height: number }, quality: number): { readonly data: Uint8Array };
}

/** Of libjpeg's scale, and the default of Pillow and most cameras' software. */
const QUALITY = 75;

let encoder: JpegEncoder | null = null;

/** Loads the encoder on first use. */
export function encodeJpeg({ width, height, rgb }: Pixels): Buffer {
  encoder ??= createRequire(import.meta.url)('jpeg-js') as JpegEncoder;
  const data = new Uint8Array(4 * width * height).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++) data.set(rgb.subarray(3 * pixel, 3 * pixel + 3), 4 * pixel);
  return Buffer.from(encoder.encode({ data, width, height }, QUALITY).data);
}

const TABLES = 0xdb;
const SCAN = 0xda;
/** Coefficients that are not zero in most blocks: those of the lowest frequencies come first, after the mean. */
const VARIED_FROM = 1;
const VARIED_TO = 24;

/**
 * The same image decoded with other factors of its frequencies, so that all of its pixels differ a little: other images
 * then cost no encoding. `draw` returns the difference of a factor.
 */
export function varyJpeg(image: Buffer, draw: () => number): Buffer {
  const varied = Buffer.from(image);
  // Segments follow the mark of the start: a marker, and a length that includes itself.
  for (let at = 2; varied[at + 1] !== SCAN; at += 2 + varied.readUInt16BE(at + 2)) {
    if (varied[at + 1] !== TABLES) continue;
    const end = at + 2 + varied.readUInt16BE(at + 2);
    // Of each table its number and 64 factors.
    for (let table = at + 4; table < end; table += 65)
      for (let i = table + 1 + VARIED_FROM; i <= table + VARIED_TO; i++)
        varied[i] = Math.min(255, (varied[i] ?? 1) + draw());
  }
  return varied;
}
