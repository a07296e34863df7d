import { seededRandom } from '../../../core/stats/seeded-random.ts';
import { dataUrl } from './media-urls.ts';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { createRequire } from 'node:module';

export const IMAGE_FORMATS = ['jpeg', 'png'] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

/** Images of one size that are compressed before the run; all others are made from these. */
const DRAWN_IMAGES = 4;
/** Larger images are fewer, so that a run of them begins soon. */
const DRAWN_PIXELS = 4e6;
/** The number of a factor's differences in a JPEG. */
const FACTORS = 4;

/**
 * Makes images of gradients with noise, which compress about as photos do. Each key has an image whose pixels no other
 * key's has; making it costs a copy, because the compression is done before.
 */
export function syntheticImages(
  sizes: readonly ImageSize[],
  format: ImageFormat,
  seed: number,
): (key: string) => string {
  const ofSizes = sizes.map((size) => {
    const count = Math.max(1, Math.min(DRAWN_IMAGES, Math.floor(DRAWN_PIXELS / (size.width * size.height))));
    return Array.from({ length: count }, (_, i) => {
      const pixels = drawPixels(size, `${seed}/image/${size.width}x${size.height}/${i}`);
      return format === 'jpeg' ? jpegImage(pixels) : pngImage(pixels);
    });
  });
  return (key) => {
    const random = seededRandom(key);
    const ofSize = ofSizes[Math.floor(random() * ofSizes.length)] ?? [];
    return ofSize[Math.floor(random() * ofSize.length)]?.(random) ?? '';
  };
}

/** As a `data:` URL. */
type DrawnImage = (random: () => number) => string;

function jpegImage(pixels: Pixels): DrawnImage {
  const encoded = encodeJpeg(pixels);
  return (random) =>
    dataUrl(
      'image/jpeg',
      varyJpeg(encoded, () => Math.floor(random() * FACTORS)),
    );
}

function pngImage(pixels: Pixels): DrawnImage {
  const { head, end } = encodePng(pixels);
  const row = pixels.rgb.subarray(-3 * pixels.width);
  // Base64 has four characters for three bytes: what all images have in common is written once.
  const common = head.length - (head.length % 3);
  const url = dataUrl('image/png', head.subarray(0, common));
  return (random) => {
    const varied = row.map((value) => value ^ Math.floor(random() * NOISE));
    return url + Buffer.concat([head.subarray(common), end(varied)]).toString('base64');
  };
}

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Rows from the top, three bytes per pixel. */
interface Pixels extends ImageSize {
  readonly rgb: Uint8Array;
}

/** Pixels between two colors that are drawn; those between them are interpolated. */
const CELL = 64;
/** Largest difference of a pixel from the gradient. */
const NOISE = 12;
/** Gradients between random colors, with noise: they compress about as photos do. */
function drawPixels({ width, height }: ImageSize, key: string): Pixels {
  const random = seededRandom(key);
  const rowColors = 3 * (Math.ceil(width / CELL) + 1);
  const colors = Float64Array.from({ length: rowColors * (Math.ceil(height / CELL) + 1) }, () => 256 * random());
  const edge = new Float64Array(rowColors);
  const rgb = new Uint8ClampedArray(3 * width * height);
  let at = 0;
  for (let y = 0; y < height; y++) {
    const above = rowColors * Math.floor(y / CELL);
    const down = (y % CELL) / CELL;
    for (let i = 0; i < rowColors; i++) {
      const from = colors[above + i] ?? 0;
      edge[i] = from + ((colors[above + rowColors + i] ?? 0) - from) * down;
    }
    for (let x = 0; x < width; x++) {
      const left = 3 * Math.floor(x / CELL);
      const right = (x % CELL) / CELL;
      const noise = (2 * random() - 1) * NOISE;
      for (let i = left; i < left + 3; i++) {
        const from = edge[i] ?? 0;
        rgb[at++] = from + ((edge[i + 3] ?? 0) - from) * right + noise;
      }
    }
  }
  return { width, height, rgb: new Uint8Array(rgb.buffer) };
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** 8 bits per channel, RGB, deflate, the five filters, no interlace. */
const FORMAT = Buffer.from([8, 2, 0, 0, 0]);
/** A zlib stream with deflate and the default window. */
const ZLIB_HEAD = Buffer.from([0x78, 0x9c]);
const SUB_FILTER = 1;

/** A file in two parts: all rows but the last, and what completes it with a last row. */
interface PngParts {
  readonly head: Buffer;
  readonly end: (lastRow: Uint8Array) => Buffer;
}

/** Compresses an image so that others with another last row cost no compression. Rows are RGB. */
function encodePng({ width, height, rgb }: Pixels): PngParts {
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

interface JpegEncoder {
  encode(image: { data: Uint8Array; width: number; height: number }, quality: number): { readonly data: Uint8Array };
}

/** Of libjpeg's scale, and the default of Pillow and most cameras' software. */
const QUALITY = 75;

let encoder: JpegEncoder | null = null;

/** Loads the encoder on first use. */
function encodeJpeg({ width, height, rgb }: Pixels): Buffer {
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
function varyJpeg(image: Buffer, draw: () => number): Buffer {
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
