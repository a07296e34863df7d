import { createHash } from 'node:crypto';

/** Sides of a square of pixels that is one token, as Qwen2-VL's models merge them. */
const PATCH_PIXELS = 28;
/** Of an image that would have to be loaded from an address: those of LLaVA 1.5. */
const TOKENS_OF_ADDRESS = 576;

/** Tokens of a second of audio, and of the 30 seconds that the encoder reads: those of Qwen2-Audio. */
const TOKENS_PER_SECOND = 25;
const TOKENS_OF_UNKNOWN_AUDIO = 750;

/** An image or a clip of a message: equal keys stand for equal ones. */
export interface PromptMedia {
  readonly kind: 'image' | 'audio';
  readonly key: string;
  readonly tokens: number;
}

/** Tokens of each kind that a prompt has, as vLLM reports them. */
export type MediaTokens = Partial<Record<PromptMedia['kind'], number>>;

/** The image or the audio of a part of a message; null for a part that is neither. */
export function mediaOf(part: Readonly<Record<string, unknown>>): PromptMedia | null {
  const [image, audio] = [imageIn(part), audioIn(part)];
  if (image !== null) return { kind: 'image', key: keyOf(image), tokens: imageTokens(image) };
  return audio === null ? null : { kind: 'audio', key: keyOf(audio), tokens: audioTokens(audio) };
}

const keyOf = (media: string): string => createHash('sha256').update(media).digest('base64');

/** In the forms of chat completions, responses and Anthropic's messages. */
function imageIn({ type, image_url: url, source }: Readonly<Record<string, unknown>>): string | null {
  if (type !== 'image_url' && type !== 'input_image' && type !== 'image') return null;
  return textAmong([url, member(url, 'url'), member(source, 'data'), member(source, 'url')]);
}

/** In the forms of OpenAI's and vLLM's chat completions. */
function audioIn({ type, input_audio: input, audio_url: url }: Readonly<Record<string, unknown>>): string | null {
  if (type !== 'input_audio' && type !== 'audio_url') return null;
  return textAmong([member(input, 'data'), url, member(url, 'url')]);
}

const textAmong = (values: readonly unknown[]): string | null =>
  values.find((each): each is string => typeof each === 'string' && each !== '') ?? null;

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;

/** @param media an address, Base64, or a `data:` URL with it */
function fileOf(media: string): Buffer {
  return Buffer.from(media.slice(media.startsWith('data:') ? media.indexOf(',') + 1 : 0), 'base64');
}

/** A token per 28 × 28 pixels of a PNG or JPEG, begun ones included; 576 of any other image. */
function imageTokens(image: string): number {
  const size = sizeOf(fileOf(image));
  return size === null ? TOKENS_OF_ADDRESS : Math.ceil(size[0] / PATCH_PIXELS) * Math.ceil(size[1] / PATCH_PIXELS);
}

/** 25 per second of a WAV file whose samples follow a head of 44 bytes, begun ones included; 750 of any other audio. */
function audioTokens(audio: string): number {
  const file = fileOf(audio);
  if (file.length <= 44 || file.toString('latin1', 8, 12) !== 'WAVE') return TOKENS_OF_UNKNOWN_AUDIO;
  return Math.ceil((TOKENS_PER_SECOND * (file.length - 44)) / file.readUInt32LE(28));
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
