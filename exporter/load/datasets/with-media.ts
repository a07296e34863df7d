import type { LoadPhase } from '../../../core/run/record.ts';
import type { Spread } from '../../../core/run/run-dataset.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import type { GenerationRequest, Message } from '../endpoints/endpoint.ts';
import { mediaBytes, mediaOf, type Media, type MediaKind, MEDIA_KINDS } from '../media/media-urls.ts';
import { mediaSha256, readMedia, MediaFiles } from '../media/read-media.ts';
import { syntheticAudio } from '../media/synthetic-audio.ts';
import { syntheticImages, type ImageFormat, type ImageSize } from '../media/synthetic-images.ts';
import { planSha256, type Conversation, type Dataset } from './dataset.ts';
import { entryOrder, type PlanPart } from './file-dataset.ts';
import { dirname } from 'node:path';
import type { RowMediaNames } from './row.ts';

/** `--images` or `--audio-clips` of each request, and of each turn of a conversation. */
export type RequestedMedia = GivenMedia | SyntheticImages | SyntheticAudio;

interface GivenMedia {
  readonly kind: MediaKind;
  readonly count: number;
  readonly sources: readonly string[];
}

interface SyntheticImages {
  readonly kind: 'images';
  readonly count: number;
  readonly sizes: readonly ImageSize[];
  readonly format: ImageFormat;
}

interface SyntheticAudio {
  readonly kind: 'audio';
  readonly count: number;
  readonly length_seconds: Spread;
  readonly sample_rates_hz: readonly number[];
}

interface Variant {
  readonly seed: number;
  /** Variant of the texts of a seed: another one has other media. */
  readonly variant: number;
}

/** Where a file is in a run: turns are numbered from 0 (null: a request of its own), files of a turn likewise. */
interface MediaPlace {
  readonly phase: LoadPhase | 'probe';
  readonly position: number;
  readonly turn: number | null;
  readonly number: number;
}

type MediaAt = (place: MediaPlace) => string;

/**
 * The dataset with media in each request, after its text. In conversations each turn has its own, and later requests
 * repeat those of the turns before. Where requests recur their media do. Everything that takes long is done here. Throws
 * a `ConfigurationError`.
 */
export async function withMedia(dataset: Dataset, requested: RequestedMedia, variant: Variant): Promise<Dataset> {
  const { count, kind } = requested;
  const { conversation } = dataset;
  const { facts, at } = await openMedia(requested, variant, dataset);
  const mediaAt = (place: Omit<MediaPlace, 'number'>): Media =>
    mediaOf(
      kind,
      Array.from({ length: count }, (_, number) => at({ ...place, number })),
    );
  return {
    ...withoutReuse(dataset),
    planSha256: planSha256({ dataset: dataset.planSha256, [kind]: JSON.stringify(facts[kind]), seed: variant.seed }),
    ...facts,
    request: (phase, position) => ({
      ...dataset.request(phase, position),
      ...mediaAt({ phase, position, turn: conversation === undefined ? null : 0 }),
    }),
    ...(conversation === undefined
      ? {}
      : {
          conversation: (phase, position) =>
            conversationWith(conversation(phase, position), (turn) => mediaAt({ phase, position, turn })),
        }),
  };
}

/** The tokens of media are not known, so neither is the share of a prompt that others have too. */
const withoutReuse = ({ shared: _, ...dataset }: Dataset): Dataset => dataset;

/** What run.json has of the media. */
type MediaFacts = Pick<Dataset, MediaKind>;

async function openMedia(
  requested: RequestedMedia,
  { seed, variant }: Variant,
  { size, fileSha256 }: Dataset,
): Promise<{ readonly facts: MediaFacts; readonly at: MediaAt }> {
  if ('sources' in requested) {
    const given = await readMedia(requested.kind, requested.sources);
    return { facts: givenMedia(requested.kind, given, requested.count), at: fromList(given, requested, seed) };
  }
  const { facts, make } = synthesis(requested, seed);
  // Lines of a file are sent again with other media.
  const entries = fileSha256 === undefined ? size : null;
  const name = NAMES[requested.kind];
  return {
    facts,
    at: ({ phase, position, turn, number }) =>
      make(`${seed}/${variant}/${name}/${phase}/${entries === null ? position : position % entries}/${turn}/${number}`),
  };
}

/** In the keys of random numbers. */
const NAMES: Readonly<Record<MediaKind, string>> = { images: 'image', audio: 'audio' };

function synthesis(
  requested: SyntheticImages | SyntheticAudio,
  seed: number,
): { readonly facts: MediaFacts; readonly make: (key: string) => string } {
  const { count } = requested;
  const [source, different, sha256] = ['synthetic', null, null] as const;
  if (requested.kind === 'images') {
    const { sizes, format } = requested;
    const images = { count, source, sizes, format, different, sha256 };
    return { facts: { images }, make: syntheticImages(sizes, format, seed) };
  }
  const { length_seconds, sample_rates_hz } = requested;
  const audio = { count, source, length_seconds, sample_rates_hz, different, sha256 };
  return { facts: { audio }, make: syntheticAudio(length_seconds, sample_rates_hz, seed) };
}

/** `count`: of each request; null: the file of the requests determines it. */
function givenMedia(kind: MediaKind, given: readonly string[], count: number | null): MediaFacts {
  const addresses = given.filter((url) => mediaBytes(url) === null).length;
  const source = addresses === 0 ? 'files' : addresses === given.length ? 'urls' : 'files_and_urls';
  const [different, sha256] = [new Set(given).size, mediaSha256(given)];
  if (kind === 'images') return { images: { count, source, sizes: null, format: null, different, sha256 } };
  return { audio: { count, source, length_seconds: null, sample_rates_hz: null, different, sha256 } };
}

/** In their order, as long as each position has as many. */
function fromList(given: readonly string[], { count, kind }: GivenMedia, seed: number): MediaAt {
  const order = entryOrder('sequential', given.length, seed);
  return ({ phase, position, turn, number }) => {
    const index =
      turn === null
        ? order(phase, position * count + number)
        : Math.floor(seededRandom(`${seed}/${NAMES[kind]}/${phase}/${position}/${turn}/${number}`)() * given.length);
    return given[index] ?? '';
  };
}

function conversationWith(conversation: Conversation, mediaAt: (turn: number) => Media): Conversation {
  return {
    ...conversation,
    request(turn, responses) {
      const request = conversation.request(turn, responses);
      return { ...request, ...historyWith(request, mediaAt), ...mediaAt(turn) };
    },
  };
}

/** Each message of the user begins a turn. */
function historyWith(
  { history }: GenerationRequest,
  mediaAt: (turn: number) => Media,
): Pick<GenerationRequest, 'history'> {
  let turn = 0;
  const withTheirs = (message: Message): Message =>
    message.role === 'user' ? { ...message, ...mediaAt(turn++) } : message;
  return history === undefined ? {} : { history: history.map(withTheirs) };
}

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
