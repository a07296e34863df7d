import { ConfigurationError } from '../../errors/expected-error.ts';
import { type Endpoint, isObject, type JsonObject } from '../endpoints/endpoint.ts';
import type { MediaKind } from '../media/media-urls.ts';
import type { InputText } from './input-lines.ts';

const MAX_TOKENS = 1e7;
const LATEST_MS = 1e12;
/** What other tools' files may contain and llmbench cannot send. */
const NOT_SENT = ['video', 'videos'];
/** Fields with one, and with several. */
const MEDIA_FIELDS: Readonly<Record<MediaKind, readonly [one: string, all: string]>> = {
  images: ['image', 'images'],
  audio: ['audio', 'audios'],
};

/** Paths and URLs of a row. */
export type RowMediaNames = Readonly<Record<MediaKind, readonly string[]>>;

const NO_MEDIA: RowMediaNames = { images: [], audio: [] };

/** One JSON object of an input file; every error message is one line that begins with file and line. */
export class InputRow {
  readonly #place: string;
  readonly #json: JsonObject;

  private constructor(place: string, json: JsonObject) {
    this.#place = place;
    this.#json = json;
  }

  static parse(file: string, { line, text }: InputText): InputRow {
    const place = `${file}:${line}`;
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new ConfigurationError(`${place}: not JSON`);
    }
    if (!isObject(json)) throw new ConfigurationError(`${place}: not a JSON object`);
    return new InputRow(place, json);
  }

  get json(): JsonObject {
    return this.#json;
  }

  has(key: string): boolean {
    return this.#json[key] !== undefined && this.#json[key] !== null;
  }

  refuse(problem: string): never {
    throw new ConfigurationError(`${this.#place}: ${problem}`);
  }

  /** Rejects images and audio, which would otherwise be dropped silently. */
  onlyText(): this {
    return this.#without([...Object.values(MEDIA_FIELDS).flat(), ...NOT_SENT], 'text only');
  }

  /**
   * Paths and URLs of images and audio: `image`, a list `images`, or AIPerf's `"images": [{"name": "…", "contents":
   * ["…"]}]`; empty without any. Rejects video.
   */
  media(): RowMediaNames {
    this.#without(NOT_SENT, 'text, images and audio only');
    return { images: this.#named(MEDIA_FIELDS.images), audio: this.#named(MEDIA_FIELDS.audio) };
  }

  #named([one, all]: readonly [one: string, all: string]): readonly string[] {
    const list = this.#json[all];
    const named = Array.isArray(list) && isObject(list[0]);
    const listed = named ? this.rows(all).flatMap((each) => each.strings('contents') ?? []) : this.names(all);
    const single = this.string(one);
    return [...(single === null ? [] : [single]), ...(listed ?? [])];
  }

  #without(names: readonly string[], supported: string): this {
    const key = names.find((name) => this.has(name));
    if (key !== undefined) this.refuse(`${key} is not supported: ${supported}`);
    return this;
  }

  string(key: string): string | null {
    if (!this.has(key)) return null;
    const value = this.#json[key];
    return typeof value === 'string' && value !== '' ? value : this.refuse(`${key} must be a non-empty string`);
  }

  /** A list of texts. */
  strings(key: string): readonly string[] | null {
    if (!this.has(key)) return null;
    const value = this.#json[key];
    const isList =
      Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && item !== '');
    return isList ? (value as string[]) : this.refuse(`${key} must be a list of non-empty strings`);
  }

  tokens(key: string): number | null {
    return this.#number(key, 1, MAX_TOKENS, true);
  }

  /** Tokens or things, of which there may be none. */
  count(key: string): number | null {
    return this.#number(key, 0, MAX_TOKENS, true);
  }

  milliseconds(key: string): number | null {
    return this.#number(key, 0, LATEST_MS, false);
  }

  seconds(key: string): number | null {
    return this.#number(key, 0, LATEST_MS / 1000, false);
  }

  integers(key: string): readonly number[] | null {
    if (!this.has(key)) return null;
    const value = this.#json[key];
    const isList = Array.isArray(value) && value.every((item) => Number.isSafeInteger(item));
    return isList ? (value as number[]) : this.refuse(`${key} must be a list of whole numbers`);
  }

  /** A list of names, which may be empty. */
  names(key: string): readonly string[] | null {
    return Array.isArray(this.#json[key]) && this.#json[key].length === 0 ? [] : this.strings(key);
  }

  /** Another object at the same place. */
  with(json: JsonObject): InputRow {
    return new InputRow(this.#place, json);
  }

  /** The rows in a list of objects. */
  rows(key: string): readonly InputRow[] {
    const value = this.#json[key];
    if (!Array.isArray(value) || value.length === 0) this.refuse(`${key} must be a non-empty list`);
    return (value as unknown[]).map((item, i) => {
      if (!isObject(item)) this.refuse(`${key}[${i}] must be an object`);
      return new InputRow(`${this.#place}: ${key}[${i}]`, item);
    });
  }

  /** The same of a list that may be empty or missing. */
  listed(key: string): readonly InputRow[] {
    const value = this.#json[key];
    return !this.has(key) || (Array.isArray(value) && value.length === 0) ? [] : this.rows(key);
  }

  #number(key: string, least: number, most: number, whole: boolean): number | null {
    if (!this.has(key)) return null;
    const value = this.#json[key];
    const fits = typeof value === 'number' && value >= least && value <= most && (!whole || Number.isInteger(value));
    return fits ? value : this.refuse(`${key} must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}`);
  }
}

/** A prompt of a file, with its other fields. */
export interface TextRow {
  readonly text: string;
  /** The texts of endpoints that read several, which are compared with `text` if they rank; null: `text` alone. */
  readonly documents: readonly string[] | null;
  readonly media: RowMediaNames;
  /** `max_tokens`; null: the run's setting. */
  readonly outputTokens: number | null;
  /** When it is due, in milliseconds since the start of the trace; null: it has no time. */
  readonly timestamp_ms: number | null;
}

/**
 * A row of AIPerf's `single_turn` and `random_pool`: `text` (or `texts` with one), `images`, `audios`, `output_length`, `timestamp`; for
 * endpoints that read texts also `texts` with several, or `query` and `documents` (or `passages`). Throws a
 * `ConfigurationError` of the row.
 */
export function textRow(row: InputRow, takes?: Endpoint['takes']): TextRow {
  return {
    ...(takes === undefined
      ? { text: textOf(row), documents: null, media: row.media() }
      : { ...textsOf(row.onlyText(), takes), media: NO_MEDIA }),
    outputTokens: row.tokens('output_length') ?? row.tokens('max_tokens'),
    timestamp_ms: row.milliseconds('timestamp'),
  };
}

function textsOf(row: InputRow, takes: NonNullable<Endpoint['takes']>): Pick<TextRow, 'text' | 'documents'> {
  if (takes === 'texts') {
    const texts = row.strings('texts');
    return texts === null || texts.length === 1
      ? { text: textOf(row), documents: null }
      : { text: '', documents: texts };
  }
  const documents = row.strings('documents') ?? row.strings('passages') ?? namedTexts(row, 'passages');
  const text = row.string('query') ?? namedTexts(row, 'query')?.[0];
  return {
    text: text ?? row.refuse('query is missing'),
    documents: documents ?? row.refuse('documents is missing: a list of texts to compare with the query'),
  };
}

/** AIPerf's form: `"texts": [{"name": "passages", "contents": ["…"]}]`. */
function namedTexts(row: InputRow, name: string): readonly string[] | null {
  if (!row.has('texts')) return null;
  return (
    row
      .rows('texts')
      .find((each) => each.string('name') === name)
      ?.strings('contents') ?? null
  );
}

export function textOf(row: InputRow): string {
  const text = row.string('text') ?? row.string('prompt');
  if (text !== null) return text;
  const { texts } = row.json;
  if (texts === undefined) row.refuse('text is missing');
  if (!Array.isArray(texts) || texts.length !== 1 || typeof texts[0] !== 'string' || texts[0] === '')
    row.refuse(
      'texts must be a list of one string: only --endpoint-type embeddings and pooling have several in a request',
    );
  return (texts as string[])[0] ?? '';
}

/** Times of all rows in seconds; undefined when no row has one. Throws when only some have one. */
export function dueTimes_ns(
  rows: readonly { readonly row: InputRow; readonly timestamp_ms: number | null }[],
): Float64Array | undefined {
  if (rows.every(({ timestamp_ms }) => timestamp_ms === null)) return undefined;
  return Float64Array.from(rows, ({ row, timestamp_ms }) =>
    timestamp_ms === null
      ? row.refuse('timestamp is missing, although other rows have one')
      : Math.round((timestamp_ms / 1000) * 1e9),
  );
}
