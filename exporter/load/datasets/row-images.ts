import { dirname } from 'node:path';
import { ImageFiles } from '../images/read-images.ts';
import type { Dataset } from './dataset.ts';
import type { PlanPart } from './file-dataset.ts';
import { givenImages } from './with-images.ts';

/** The images that the rows of a file name, by paths below the file's folder or by URLs. */
export class RowImages {
  readonly #folder: string;
  readonly #files = new ImageFiles();
  readonly #all: string[] = [];

  constructor(file: string) {
    this.#folder = dirname(file);
  }

  /** The images of a row as requests contain them. Throws a `ConfigurationError` for a file that is no image. */
  async urls(named: readonly string[]): Promise<readonly string[]> {
    const urls: string[] = [];
    for (const each of named) urls.push(await this.#files.url(each, this.#folder));
    this.#all.push(...urls);
    return urls;
  }

  /** What the dataset has of them. */
  get facts(): Pick<Dataset, 'images'> {
    return this.#all.length === 0 ? {} : { images: givenImages(this.#all, null) };
  }

  /** What the hash of the plan has of them. */
  get plan(): PlanPart {
    const { images } = this.facts;
    return images === undefined ? {} : { images: images.sha256 };
  }
}
