import { createHash } from 'node:crypto';

/** Sides of a square of pixels that is one token, as Qwen2-VL's models merge them. */
const PATCH_PIXELS = 28;
/** Of an image that would have to be loaded from an address: those of LLaVA 1.5. */
const TOKENS_OF_ADDRESS = 576;

/** An image of a message: equal keys stand for equal images. */
export interface PromptImage {
  readonly key: string;
  readonly tokens: number;
}

/**
 * The image of a part of a message, in the forms of chat completions, responses and Anthropic's messages; null for a
 * part that is none. A PNG or JPEG has a token per 28 × 28 pixels, begun ones included; any other image has 576.
 */
export function imageOf({ type, image_url: url, source }: Readonly<Record<string, unknown>>): PromptImage | null {
  if (type !== 'image_url' && type !== 'input_image' && type !== 'image') return null;
  const given = [url, member(url, 'url'), member(source, 'data'), member(source, 'url')];
  const image = given.find((each) => typeof each === 'string' && each !== '');
  if (typeof image !== 'string') return null;
  return { key: createHash('sha256').update(image).digest('base64'), tokens: tokensOf(image) };
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;

/** @param image an address, Base64, or a `data:` URL with it */
function tokensOf(image: string): number {
  const size = sizeOf(Buffer.from(image.slice(image.startsWith('data:') ? image.indexOf(',') + 1 : 0), 'base64'));
  return size === null ? TOKENS_OF_ADDRESS : Math.ceil(size[0] / PATCH_PIXELS) * Math.ceil(size[1] / PATCH_PIXELS);
}

/** Width and height in pixels; null if the file is neither PNG nor JPEG. */
function sizeOf(file: Buffer): readonly [width: number, height: number] | null {
  if (file.length > 24 && file.toString('latin1', 1, 4) === 'PNG')
    return [file.readUInt32BE(16), file.readUInt32BE(20)];
  if (file.length < 4 || file.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 < file.length; at += 2 + file.readUInt16BE(at + 2)) {
    const marker = file[at + 1] ?? 0;
    // The frame's header; others of this range are tables.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return [file.readUInt16BE(at + 7), file.readUInt16BE(at + 5)];
  }
  return null;
}
