import { createHash } from 'node:crypto';
import { glob, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { dataOf, dataUrl, mediaTypeOf, type MediaKind } from './media-urls.ts';

/** All files of a run are in memory. */
const MAX_BYTES = 1024 ** 3;

/** What messages name, and the files that are taken of a folder. */
const WORDS: Readonly<Record<MediaKind, { one: string; all: string; formats: string; names: string }>> = {
  images: {
    ...{ one: 'image', all: 'images', formats: 'a PNG, JPEG, GIF or WebP image' },
    names: '*.{png,jpg,jpeg,gif,webp,PNG,JPG,JPEG,GIF,WEBP}',
  },
  audio: {
    ...{ one: 'audio', all: 'audio files', formats: 'a WAV, MP3, FLAC or Ogg file' },
    names: '*.{wav,mp3,flac,ogg,WAV,MP3,FLAC,OGG}',
  },
};

/** An address, from which the server loads the file, or the file itself; anything else is a path. */
export const isMediaUrl = (text: string): boolean => /^https?:\/\//.test(text) || dataOf(text) !== null;

/** AIPerf's form of audio in files: `wav,BASE64`. */
const NAMED_FORMAT = /^(wav|mp3),/;

/** Reads files of images or audio, each of them once. */
export class MediaFiles {
  readonly #kind: MediaKind;
  readonly #urls = new Map<string, string>();
  #bytes = 0;

  constructor(kind: MediaKind) {
    this.#kind = kind;
  }

  /**
   * What requests contain: the file as a `data:` URL, or the address as it is. Throws a `ConfigurationError` for a file
   * of another format.
   */
  async url(pathOrUrl: string, folder = ''): Promise<string> {
    if (isMediaUrl(pathOrUrl)) return pathOrUrl;
    const { one, all, formats } = WORDS[this.#kind];
    if (this.#kind === 'audio' && NAMED_FORMAT.test(pathOrUrl))
      return pathOrUrl.replace(NAMED_FORMAT, (_, format: string) => `data:audio/${format};base64,`);
    const path = resolve(folder, pathOrUrl);
    const known = this.#urls.get(path);
    if (known !== undefined) return known;
    const file = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new ConfigurationError(`${path}: the ${one} cannot be read (${error.code ?? error.message})`);
    });
    const mediaType = mediaTypeOf(this.#kind, file);
    if (mediaType === null) throw new ConfigurationError(`${path}: is not ${formats}`);
    this.#bytes += file.length;
    if (this.#bytes > MAX_BYTES)
      throw new ConfigurationError(`${path}: the ${all} have more than ${MAX_BYTES} bytes: use fewer or smaller ones`);
    const url = dataUrl(mediaType, file);
    this.#urls.set(path, url);
    return url;
  }
}

/**
 * The files of `--image-from` or `--audio-from`: addresses, files, all of a folder or of a pattern in the order of their
 * names, and text files with an address or a path per line. Throws a `ConfigurationError`.
 */
export async function readMedia(kind: MediaKind, sources: readonly string[]): Promise<readonly string[]> {
  const files = new MediaFiles(kind);
  const urls: string[] = [];
  for (const source of sources)
    for (const { path, folder } of await filesOf(kind, source)) urls.push(await files.url(path, folder));
  return urls;
}

interface NamedFile {
  readonly path: string;
  readonly folder: string;
}

async function filesOf(kind: MediaKind, source: string): Promise<readonly NamedFile[]> {
  if (isMediaUrl(source)) return [{ path: source, folder: '' }];
  const { all, names } = WORDS[kind];
  // What is no file or folder may be a pattern.
  const found = await stat(source).catch(() => null);
  if (found?.isFile() === true && !source.endsWith('.txt')) return [{ path: source, folder: '' }];
  const isList = found?.isFile() === true;
  const named = isList ? await linesOf(source) : await matching(found === null ? source : join(source, names));
  if (named.length > 0) return named.map((path) => ({ path, folder: isList ? dirname(source) : '' }));
  throw new ConfigurationError(
    found === null ? `${source}: there is no such file, folder or pattern` : `${source}: it has no ${all}`,
  );
}

async function linesOf(path: string): Promise<readonly string[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

async function matching(pattern: string): Promise<readonly string[]> {
  // Where names have no case, a pattern for both finds a file twice.
  const paths = new Set<string>();
  for await (const path of glob(pattern)) paths.add(path);
  return [...paths].sort();
}

/** SHA-256 (hex) of files and addresses in their order. */
export function mediaSha256(urls: readonly string[]): string {
  const hash = createHash('sha256');
  for (const url of urls) hash.update(url).update('\n');
  return hash.digest('hex');
}
