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
