import { dirname } from 'node:path';
import { MEDIA_KINDS, mediaOf, type Media, type MediaKind } from '../media/media-kinds.ts';
import { MediaFiles } from '../media/read-media.ts';
import type { Dataset } from './dataset.ts';
import type { PlanPart } from './file-dataset.ts';
import type { RowMediaNames } from './row.ts';
import { givenMedia } from './with-media.ts';

/** The images and audio that the rows of a file name, by paths below the file's folder or by URLs. */
export class RowMedia {
  readonly #folder: string;
  readonly #kinds = MEDIA_KINDS.map((kind) => ({ kind, files: new MediaFiles(kind), all: [] as string[] }));

  constructor(file: string) {
    this.#folder = dirname(file);
  }

  /** The media of a row as requests contain them. Throws a `ConfigurationError` for a file of another format. */
  async read(named: RowMediaNames): Promise<Media> {
    let media: Media = {};
    for (const { kind, files } of this.#kinds) {
      const urls: string[] = [];
      for (const each of named[kind]) urls.push(await files.url(each, this.#folder));
      media = { ...media, ...mediaOf(kind, urls) };
    }
    return this.add(media);
  }

  /** Those of a row that has them as requests contain them. */
  add(media: Media): Media {
    for (const { kind, all } of this.#kinds) all.push(...(media[kind] ?? []));
    return media;
  }

  /** What the dataset has of them. */
  get facts(): Pick<Dataset, MediaKind> {
    const found = this.#kinds.filter(({ all }) => all.length > 0);
    return Object.assign({}, ...found.map(({ kind, all }) => givenMedia(kind, all, null))) as Pick<Dataset, MediaKind>;
  }

  /** What the hash of the plan has of them. */
  get plan(): PlanPart {
    return Object.fromEntries(Object.entries(this.facts).map(([kind, { sha256 }]) => [kind, sha256]));
  }
}
