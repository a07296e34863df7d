import { createHash } from 'node:crypto';
import { glob, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { dataOf, dataUrl, mediaTypeOf } from './image-urls.ts';

/** All images of a run are in memory. */
const MAX_BYTES = 1024 ** 3;
const ANY_IMAGE = '*.{png,jpg,jpeg,gif,webp,PNG,JPG,JPEG,GIF,WEBP}';

/** An address, from which the server loads the image, or the image itself; anything else is a path. */
export const isImageUrl = (text: string): boolean => /^https?:\/\//.test(text) || dataOf(text) !== null;

/** Reads files of images, each of them once. */
export class ImageFiles {
  readonly #urls = new Map<string, string>();
  #bytes = 0;

  /**
   * What requests contain: the file as a `data:` URL, or the address as it is. Throws a `ConfigurationError` for a file
   * that is no image.
   */
  async url(pathOrUrl: string, folder = ''): Promise<string> {
    if (isImageUrl(pathOrUrl)) return pathOrUrl;
    const path = resolve(folder, pathOrUrl);
    const known = this.#urls.get(path);
    if (known !== undefined) return known;
    const file = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new ConfigurationError(`${path}: the image cannot be read (${error.code ?? error.message})`);
    });
    const mediaType = mediaTypeOf(file);
    if (mediaType === null) throw new ConfigurationError(`${path}: is not a PNG, JPEG, GIF or WebP image`);
    this.#bytes += file.length;
    if (this.#bytes > MAX_BYTES)
      throw new ConfigurationError(`${path}: the images have more than ${MAX_BYTES} bytes: use fewer or smaller ones`);
    const url = dataUrl(mediaType, file);
    this.#urls.set(path, url);
    return url;
  }
}

/**
 * The images of `--image-from`: addresses, files, all images of a folder or of a pattern in the order of their names,
 * and text files with an address or a path per line. Throws a `ConfigurationError`.
 */
export async function readImages(sources: readonly string[]): Promise<readonly string[]> {
  const files = new ImageFiles();
  const urls: string[] = [];
  for (const source of sources)
    for (const { path, folder } of await imagesOf(source)) urls.push(await files.url(path, folder));
  return urls;
}

interface NamedImage {
  readonly path: string;
  readonly folder: string;
}

async function imagesOf(source: string): Promise<readonly NamedImage[]> {
  if (isImageUrl(source)) return [{ path: source, folder: '' }];
  const found = await stat(source).catch(() => null);
  if (found?.isFile() === true && !source.endsWith('.txt')) return [{ path: source, folder: '' }];
  const isList = found?.isFile() === true;
  const named = isList ? await linesOf(source) : await filesOf(found === null ? source : join(source, ANY_IMAGE));
  if (named.length > 0) return named.map((path) => ({ path, folder: isList ? dirname(source) : '' }));
  throw new ConfigurationError(
    found === null ? `${source}: there is no such file, folder or pattern` : `${source}: it has no images`,
  );
}

async function linesOf(path: string): Promise<readonly string[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

async function filesOf(pattern: string): Promise<readonly string[]> {
  // Where names have no case, a pattern for both finds a file twice.
  const paths = new Set<string>();
  for await (const path of glob(pattern)) paths.add(path);
  return [...paths].sort();
}

/** SHA-256 (hex) of images in their order. */
export function imagesSha256(urls: readonly string[]): string {
  const hash = createHash('sha256');
  for (const url of urls) hash.update(url).update('\n');
  return hash.digest('hex');
}
