import { seededRandom } from '../../../core/stats/seeded-random.ts';
import { encodeJpeg, varyJpeg } from './encode-jpeg.ts';
import { encodePng } from './encode-png.ts';
import { dataUrl } from './media-urls.ts';
import { drawPixels, NOISE, type ImageSize, type Pixels } from './pixels.ts';

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
