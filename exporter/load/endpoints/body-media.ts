import { dataUrl, type Media } from '../media/media-urls.ts';
import { isObject, type JsonObject } from './endpoint.ts';

/**
 * The images and audio in a prepared body of chat completions, responses or messages, in their order; those of other
 * forms are not found.
 */
export function mediaInBody({ messages, input }: JsonObject): Media {
  const parts = listed(messages ?? input).flatMap(partsOf);
  const images = parts.flatMap((part) => imageUrl(part) ?? []);
  const audio = parts.flatMap((part) => audioUrl(part) ?? []);
  return { ...(images.length > 0 && { images }), ...(audio.length > 0 && { audio }) };
}

/** Of a message, and of the results of tools in it. */
const partsOf = ({ content }: JsonObject): readonly JsonObject[] =>
  listed(content).flatMap((part) => [part, ...partsOf(part)]);

const listed = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function imageUrl({ type, image_url: image, source }: JsonObject): string | null {
  if (type === 'image_url' || type === 'input_image') return textOf(isObject(image) ? image.url : image);
  if (type !== 'image' || !isObject(source)) return null;
  const data = textOf(source.data);
  return data === null ? textOf(source.url) : base64Url(source.media_type, data);
}

function audioUrl({ type, audio_url: audio, input_audio: input }: JsonObject): string | null {
  if (type === 'audio_url') return textOf(isObject(audio) ? audio.url : audio);
  const data = type === 'input_audio' && isObject(input) ? textOf(input.data) : null;
  return data === null || !isObject(input) ? null : base64Url(`audio/${String(input.format)}`, data);
}

/** Base64 that is not decoded. */
const base64Url = (mediaType: unknown, base64: string): string => dataUrl(String(mediaType), Buffer.alloc(0)) + base64;
