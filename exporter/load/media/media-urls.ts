/** Of the formats that all models read, by the first bytes of a file. */
const MEDIA_TYPES: Readonly<Record<MediaKind, readonly (readonly [type: string, begins: RegExp])[]>> = {
  images: [
    ['image/png', /^\x89PNG/],
    ['image/jpeg', /^\xff\xd8\xff/],
    ['image/gif', /^GIF8/],
    ['image/webp', /^RIFF.{4}WEBP/s],
  ],
  audio: [
    ['audio/wav', /^RIFF.{4}WAVE/s],
    // With a tag before it, or the first frame of layer III.
    ['audio/mp3', /^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/],
    ['audio/flac', /^fLaC/],
    ['audio/ogg', /^OggS/],
  ],
};

/** Null: the file is of none of these. */
export function mediaTypeOf(kind: MediaKind, file: Buffer): string | null {
  const head = file.toString('latin1', 0, 16);
  return MEDIA_TYPES[kind].find(([, begins]) => begins.test(head))?.[0] ?? null;
}

/** An image or a clip as a `data:` URL, in which requests contain it. */
export function dataUrl(mediaType: string, file: Buffer): string {
  return `data:${mediaType};base64,${file.toString('base64')}`;
}

const DATA_URL = /^data:([\w.+/-]+);base64,/;

/** The parts of a `data:` URL; null for an address, from which the server loads the file. */
export function dataOf(url: string): { readonly mediaType: string; readonly base64: string } | null {
  const [head, mediaType] = DATA_URL.exec(url.slice(0, 64)) ?? [];
  return head === undefined || mediaType === undefined ? null : { mediaType, base64: url.slice(head.length) };
}

/** Bytes of the file that a URL contains; null for an address. */
export function mediaBytes(url: string): number | null {
  const data = dataOf(url);
  if (data === null) return null;
  const padding = data.base64.endsWith('==') ? 2 : data.base64.endsWith('=') ? 1 : 0;
  return (data.base64.length / 4) * 3 - padding;
}

/** What requests have beside their text; absent: nothing of that kind. */
export interface Media {
  /** `data:` URLs, or addresses from which the server loads them. */
  readonly images?: readonly string[];
  /** The same of clips of audio. */
  readonly audio?: readonly string[];
}

export type MediaKind = keyof Media;

/** In the order in which they follow the text. */
export const MEDIA_KINDS = ['images', 'audio'] as const satisfies readonly MediaKind[];

/** The option for the number of each kind. */
export const MEDIA_OPTIONS: Readonly<Record<MediaKind, string>> = { images: '--images', audio: '--audio-clips' };

/** Of one kind; with an empty list nothing. */
export function mediaOf(kind: MediaKind, urls: readonly string[]): Media {
  if (urls.length === 0) return {};
  return kind === 'images' ? { images: urls } : { audio: urls };
}
