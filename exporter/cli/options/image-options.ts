import type { DatasetRequest } from '../../load/datasets/open-dataset.ts';
import type { ImageSize } from '../../load/images/pixels.ts';
import { IMAGE_FORMATS } from '../../load/images/synthetic-images.ts';
import { choice, integer, texts, type Option, type OptionValues } from './options.ts';

const PIXELS = { min: 8, max: 8192 };
const MAX_IMAGES = 1000;
const DEFAULT_SIZE: ImageSize = { width: 512, height: 512 };
const BESIDE_IMAGES = { requires: ['--images'] };

/** Images of requests, besides those that an input file names. */
export const IMAGE_OPTIONS = {
  images: integer(
    'images of each request, or of each turn of a conversation, after its text; all are different unless requests repeat',
    { min: 0, max: MAX_IMAGES },
    0,
  ),
  'image-size': imageSizes('width and height of the images in pixels; of several sizes each image has one'),
  'image-format': choice(IMAGE_FORMATS, 'format of the images (default: jpeg)', null, {
    ...BESIDE_IMAGES,
    conflicts: { 'image-from': 'the images have a format' },
  }),
  'image-from': {
    ...texts(
      'SOURCE',
      'images to send instead: a file, folder, pattern, URL, or a .txt file with one of these per line',
    ),
    ...BESIDE_IMAGES,
  },
};

function imageSizes(help: string): Option<readonly ImageSize[] | null> {
  return {
    help: `${help} (default: ${DEFAULT_SIZE.width}x${DEFAULT_SIZE.height})`,
    value: 'WxH[,WxH…]',
    ...BESIDE_IMAGES,
    conflicts: { 'image-from': 'the images have a size' },
    parse: (given) => (given.at(-1) ?? '').split(',').map(imageSize),
    fallback: null,
  };
}

function imageSize(text: string): ImageSize {
  const [, width = NaN, height = NaN] = (/^\s*(\d{1,4})x(\d{1,4})\s*$/i.exec(text) ?? []).map(Number);
  if (![width, height].every((side) => side >= PIXELS.min && side <= PIXELS.max))
    throw new Error(`WIDTHxHEIGHT with sides of ${PIXELS.min} to ${PIXELS.max} pixels, such as 512x512`);
  return { width, height };
}

/** Null: none. */
export function requestedImages(
  options: OptionValues<typeof IMAGE_OPTIONS>,
): NonNullable<DatasetRequest['images']> | null {
  const { images: count, 'image-from': sources, 'image-size': sizes, 'image-format': format } = options;
  if (count === 0) return null;
  if (sources.length > 0) return { count, source: { kind: 'given', sources } };
  return { count, source: { kind: 'synthetic', sizes: sizes ?? [DEFAULT_SIZE], format: format ?? 'jpeg' } };
}
