import type { LoadPhase } from '../../../core/run/record.ts';
import type { RunImages } from '../../../core/run/run-dataset.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import type { GenerationRequest, Message } from '../endpoints/endpoint.ts';
import { imageBytes } from '../images/image-urls.ts';
import { imagesSha256, readImages } from '../images/read-images.ts';
import type { ImageSize } from '../images/pixels.ts';
import { syntheticImages, type ImageFormat } from '../images/synthetic-images.ts';
import { planSha256, type Conversation, type Dataset } from './dataset.ts';
import { entryOrder } from './file-dataset.ts';

/** `--images` of each request, and of each turn of a conversation. */
export interface ImageOptions {
  readonly count: number;
  readonly seed: number;
  /** Variant of the texts of a seed: another one has other images. */
  readonly variant: number;
  readonly source:
    | { readonly kind: 'synthetic'; readonly sizes: readonly ImageSize[]; readonly format: ImageFormat }
    | { readonly kind: 'given'; readonly sources: readonly string[] };
}

/** Where an image is in a run: turns are numbered from 0 (null: a request of its own), images of a turn likewise. */
interface ImagePlace {
  readonly phase: LoadPhase | 'probe';
  readonly position: number;
  readonly turn: number | null;
  readonly number: number;
}

type ImageAt = (place: ImagePlace) => string;

/**
 * The dataset with images in each request, after its text. In conversations each turn has its own, and later requests
 * repeat those of the turns before. Where requests recur their images do. Everything that takes long is done here. Throws
 * a `ConfigurationError`.
 */
export async function withImages(dataset: Dataset, options: ImageOptions): Promise<Dataset> {
  const { count, seed } = options;
  const { conversation } = dataset;
  const { images, at } = await openImages(options, dataset);
  const imagesOf = (place: Omit<ImagePlace, 'number'>): readonly string[] =>
    Array.from({ length: count }, (_, number) => at({ ...place, number }));
  return {
    ...withoutReuse(dataset),
    planSha256: planSha256({ dataset: dataset.planSha256, images: JSON.stringify(images), seed }),
    images,
    request: (phase, position) => ({
      ...dataset.request(phase, position),
      images: imagesOf({ phase, position, turn: conversation === undefined ? null : 0 }),
    }),
    ...(conversation === undefined
      ? {}
      : {
          conversation: (phase, position) =>
            conversationWith(conversation(phase, position), (turn) => imagesOf({ phase, position, turn })),
        }),
  };
}

/** The tokens of images are not known, so neither is the share of a prompt that others have too. */
const withoutReuse = ({ shared: _, ...dataset }: Dataset): Dataset => dataset;

async function openImages(
  options: ImageOptions,
  { size, fileSha256 }: Dataset,
): Promise<{ readonly images: RunImages; readonly at: ImageAt }> {
  const { count, source, seed, variant } = options;
  if (source.kind === 'given') {
    const given = await readImages(source.sources);
    return { images: givenImages(given, count), at: fromList(given, options) };
  }
  const { sizes, format } = source;
  const make = syntheticImages(sizes, format, seed);
  // Lines of a file are sent again with other images.
  const entries = fileSha256 === undefined ? size : null;
  return {
    images: { count, source: 'synthetic', sizes, format, different: null, sha256: null },
    at: ({ phase, position, turn, number }) =>
      make(`${seed}/${variant}/image/${phase}/${entries === null ? position : position % entries}/${turn}/${number}`),
  };
}

/** `count`: of each request; null: the file of the requests determines it. */
export function givenImages(given: readonly string[], count: number | null): RunImages {
  const addresses = given.filter((url) => imageBytes(url) === null).length;
  const source = addresses === 0 ? 'files' : addresses === given.length ? 'urls' : 'files_and_urls';
  const different = new Set(given).size;
  return { count, source, sizes: null, format: null, different, sha256: imagesSha256(given) };
}

/** In their order, as long as each position has as many. */
function fromList(given: readonly string[], { count, seed }: ImageOptions): ImageAt {
  const order = entryOrder('sequential', given.length, seed);
  return ({ phase, position, turn, number }) => {
    const index =
      turn === null
        ? order(phase, position * count + number)
        : Math.floor(seededRandom(`${seed}/image/${phase}/${position}/${turn}/${number}`)() * given.length);
    return given[index] ?? '';
  };
}

function conversationWith(conversation: Conversation, imagesOf: (turn: number) => readonly string[]): Conversation {
  return {
    ...conversation,
    request(turn, responses) {
      const request = conversation.request(turn, responses);
      return { ...request, ...historyWith(request, imagesOf), images: imagesOf(turn) };
    },
  };
}

/** Each message of the user begins a turn. */
function historyWith(
  { history }: GenerationRequest,
  imagesOf: (turn: number) => readonly string[],
): Pick<GenerationRequest, 'history'> {
  let turn = 0;
  const withTheirs = (message: Message): Message =>
    message.role === 'user' ? { ...message, images: imagesOf(turn++) } : message;
  return history === undefined ? {} : { history: history.map(withTheirs) };
}
