import type { RequestedMedia } from '../../load/datasets/with-media.ts';
import { IMAGE_FORMATS, type ImageSize } from '../../load/media/synthetic-images.ts';
import { choice, integer, numbers, seconds, texts, type Option, type OptionValues } from './options.ts';

const PIXELS = { min: 8, max: 8192 };
const MAX_COUNT = 1000;
const DEFAULT_SIZE: ImageSize = { width: 512, height: 512 };
const BESIDE_IMAGES = { requires: ['--images'] };
const AUDIO_SECONDS = { min: 0, max: 3600 };
const DEFAULT_AUDIO_SECONDS = 10;
/** Rates above this number are in Hz, as AIPerf reads them. */
const MAX_KILOHERTZ = 96;
const DEFAULT_HERTZ = 16_000;
const OF_CLIPS = { requires: ['--audio-clips'], conflicts: { 'audio-from': 'the audio has a length and a rate' } };

/** Images and audio of requests, besides those that an input file names. */
export const MEDIA_OPTIONS = {
  images: integer(
    'images of each request, or of each turn of a conversation, after its text; all are different unless requests repeat',
    { min: 0, max: MAX_COUNT },
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
  'audio-clips': integer(
    'clips of audio of each request, or of each turn of a conversation, after its text: noise as WAV files of 16 bits; all are different unless requests repeat',
    { min: 0, max: MAX_COUNT },
    0,
  ),
  'audio-length-mean': seconds(
    `mean length of the clips (default: ${DEFAULT_AUDIO_SECONDS})`,
    AUDIO_SECONDS,
    null,
    OF_CLIPS,
  ),
  'audio-length-stddev': seconds('standard deviation of their length (default: 0)', AUDIO_SECONDS, null, OF_CLIPS),
  'audio-sample-rates': numbers(
    'KHZ',
    `sample rate in kHz, or in Hz above ${MAX_KILOHERTZ} (default: ${DEFAULT_HERTZ / 1000}); of several rates each clip has one`,
    { min: 1, max: 1000 * MAX_KILOHERTZ, whole: false },
    OF_CLIPS,
  ),
  'audio-from': {
    ...texts(
      'SOURCE',
      'audio to send instead: a file, folder, pattern, URL, or a .txt file with one of these per line',
    ),
    requires: ['--audio-clips'],
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

/** Of each kind that requests have. */
export function requestedMedia(options: OptionValues<typeof MEDIA_OPTIONS>): readonly RequestedMedia[] {
  return [...requestedImages(options), ...requestedAudio(options)];
}

function requestedImages(options: OptionValues<typeof MEDIA_OPTIONS>): readonly RequestedMedia[] {
  const { images: count, 'image-from': sources, 'image-size': sizes, 'image-format': format } = options;
  if (count === 0) return [];
  if (sources.length > 0) return [{ kind: 'images', count, sources }];
  return [{ kind: 'images', count, sizes: sizes ?? [DEFAULT_SIZE], format: format ?? 'jpeg' }];
}

function requestedAudio(options: OptionValues<typeof MEDIA_OPTIONS>): readonly RequestedMedia[] {
  const { 'audio-clips': count, 'audio-from': sources, 'audio-length-mean': mean } = options;
  if (count === 0) return [];
  if (sources.length > 0) return [{ kind: 'audio', count, sources }];
  const length_seconds = { mean: mean ?? DEFAULT_AUDIO_SECONDS, stddev: options['audio-length-stddev'] ?? 0 };
  const sample_rates_hz = (options['audio-sample-rates'] ?? [DEFAULT_HERTZ]).map(asHertz);
  return [{ kind: 'audio', count, length_seconds, sample_rates_hz }];
}

const asHertz = (rate: number): number => Math.round(rate > MAX_KILOHERTZ ? rate : 1000 * rate);
