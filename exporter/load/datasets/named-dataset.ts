import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatasetSource } from '../../../core/run/run-dataset.ts';
import { ownValue } from '../../../core/text/nearest-names.ts';
import { things } from '../../../core/text/quantities.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { replaceWhenWritten } from '../../files/durable-file.ts';
import { isObject, type JsonObject } from '../endpoints/endpoint.ts';
import { hubOptions } from '../tokenizers/tokenizer.ts';
import { mediaCells, promptRow } from './hub-rows.ts';
import { INPUT_LIMITS } from './input-lines.ts';

/** Public files that people benchmark with, where their owners have them. */
const KNOWN_FILES: Readonly<Record<string, string>> = {
  sharegpt:
    'https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered/resolve/main/ShareGPT_V3_unfiltered_cleaned_split.json',
  'mooncake-conversation':
    'https://raw.githubusercontent.com/kvcache-ai/Mooncake/main/FAST25-release/traces/conversation_trace.jsonl',
  'mooncake-toolagent':
    'https://raw.githubusercontent.com/kvcache-ai/Mooncake/main/FAST25-release/traces/toolagent_trace.jsonl',
  burstgpt: 'https://github.com/HPMLL/BurstGPT/releases/download/v1.1/BurstGPT_without_fails_2.csv',
  'azure-2023-code':
    'https://raw.githubusercontent.com/Azure/AzurePublicDataset/master/data/AzureLLMInferenceTrace_code.csv',
  'azure-2023-conv':
    'https://raw.githubusercontent.com/Azure/AzurePublicDataset/master/data/AzureLLMInferenceTrace_conv.csv',
};

export const KNOWN_NAMES = Object.keys(KNOWN_FILES);
export const DEFAULT_DATASET_ROWS = 1000;
export const MAX_DATASET_ROWS = 100_000;

/** Where data sets come from and are kept. */
export interface DatasetHosts {
  /** Of the rows API of the Hugging Face hub: scheme and host. */
  readonly rowsApi: string;
  /** Sent to the rows API only; null: none. */
  readonly token: string | null;
  readonly cache: string;
  /** Nothing is downloaded. */
  readonly offline: boolean;
  /** Replaces the addresses of known files; absent: their owners'. */
  readonly knownFiles?: Readonly<Record<string, string>>;
}

/** The hub's usual settings from the environment, and `HF_DATASETS_SERVER` for its rows API. */
export function datasetHosts(environment: NodeJS.ProcessEnv): DatasetHosts {
  const { token, ownCache, offline } = hubOptions(environment);
  const rowsApi = (environment.HF_DATASETS_SERVER ?? 'https://datasets-server.huggingface.co').replace(/\/+$/, '');
  return { rowsApi, token, cache: ownCache, offline };
}

export interface NamedDatasetOptions {
  /** Of a data set of the hub. */
  readonly rows: number;
  /** With the prompts; null: the first of the usual names. */
  readonly column: string | null;
}

/** A data set as a file on this machine. */
export interface NamedDataset {
  readonly path: string;
  readonly source: DatasetSource;
  readonly notes: readonly string[];
}

/** `hf:NAME[@REVISION][:SPLIT]`, where SPLIT may have its configuration before it: `CONFIG/SPLIT`. */
interface HubName {
  readonly name: string;
  /** A commit, or the beginning of one; null: the newest. */
  readonly revision: string | null;
  readonly config: string | null;
  readonly split: string | null;
}

/**
 * The file of a data set that `--dataset` names: from the cache, or downloaded into it. Throws a `ConfigurationError` of one
 * line when it is neither there nor to be had.
 */
export async function namedDataset(
  given: string,
  options: NamedDatasetOptions,
  hosts: DatasetHosts,
): Promise<NamedDataset> {
  const hub = hubName(given);
  if (hub !== null) return new HubDownload(given, hub, options, hosts).file();
  const url = ownValue({ ...KNOWN_FILES, ...hosts.knownFiles }, given);
  if (url === undefined)
    throw refusal(
      given,
      `must be hf:NAME[@REVISION][:SPLIT] of the Hugging Face hub, or one of ${KNOWN_NAMES.join(', ')}`,
    );
  return knownFile(given, url, hosts);
}

const refusal = (given: string, problem: string): ConfigurationError =>
  new ConfigurationError(`--dataset ${given}: ${problem}`);

function hubName(given: string): HubName | null {
  if (!given.startsWith('hf:')) return null;
  const [, name, revision = 'main', config = null, split = null] =
    /^hf:([\w.-]+(?:\/[\w.-]+)?)(?:@([\w.-]+))?(?::(?:([\w.-]+)\/)?([\w.-]+))?$/.exec(given) ?? [];
  if (name === undefined) throw refusal(given, 'must be hf:NAME[@REVISION][:SPLIT], as in hf:org/data@0123abc:train');
  if (revision !== 'main' && !/^[0-9a-f]{7,40}$/.test(revision))
    throw refusal(
      given,
      `the revision ${revision} must be a commit (7 to 40 hex digits), because the rows API has no branches`,
    );
  return { name, revision: revision === 'main' ? null : revision, config, split };
}

const PAGE_ROWS = 100;
const MAX_PAGE_BYTES = 64 * 2 ** 20;
/** Rows whose files are downloaded at a time. */
const PARALLEL_ROWS = 8;
const MAX_MEDIA_BYTES = 2 ** 30;
const MEDIA_FOLDER = 'media';
const TIMEOUT_MS = 60_000;
const TRIES = 4;
/** Before the second try; doubled before each further one. */
const FIRST_WAIT_MS = 1000;

/** Downloads rows of a data set of the hub, by its rows API. */
class HubDownload {
  readonly #given: string;
  readonly #hub: HubName;
  readonly #options: NamedDatasetOptions;
  readonly #hosts: DatasetHosts;
  readonly #folder: string;
  #mediaBytes = 0;

  constructor(given: string, hub: HubName, options: NamedDatasetOptions, hosts: DatasetHosts) {
    this.#given = given;
    this.#hub = hub;
    this.#options = options;
    this.#hosts = hosts;
    this.#folder = join(hosts.cache, 'datasets', hub.name.replace('/', '--'));
  }

  async file(): Promise<NamedDataset> {
    const { revision } = this.#hub;
    const kept = await this.#kept();
    if (kept !== null && revision !== null) return this.#dataset(kept, []);
    try {
      if (this.#hosts.offline) throw new Unreachable('HF_HUB_OFFLINE is 1');
      return await this.#download();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (kept === null)
        throw refusal(
          this.#given,
          `${error.message}, and ${this.#folder} does not hold it; without a network, use --input-file with a file of it`,
        );
      return this.#dataset(kept, [`${error.message}: revision ${kept.revision} of the cache is used`]);
    }
  }

  /** What files of these options are called. */
  #fileName(config: string, split: string): string {
    const { rows, column } = this.#options;
    return `${config}-${split}-${rows}${column === null ? '' : `-${column}`}.jsonl`;
  }

  /** The newest file in the cache that fits; null: there is none. */
  async #kept(): Promise<{ readonly path: string; readonly revision: string } | null> {
    const { revision, config, split } = this.#hub;
    const { rows, column } = this.#options;
    const end = `-${rows}${column === null ? '' : `-${column}`}.jsonl`;
    const found: { path: string; revision: string; time: number }[] = [];
    for (const commit of await namesIn(this.#folder)) {
      if (revision !== null && !commit.startsWith(revision)) continue;
      for (const file of await namesIn(join(this.#folder, commit))) {
        const isAsked =
          file.endsWith(end) &&
          (split === null || file.endsWith(`-${split}${end}`)) &&
          (config === null || file.startsWith(`${config}-`));
        const path = join(this.#folder, commit, file);
        if (isAsked) found.push({ path, revision: commit, time: (await stat(path)).mtimeMs });
      }
    }
    return found.sort((a, b) => b.time - a.time)[0] ?? null;
  }

  #dataset(kept: { readonly path: string; readonly revision: string }, notes: readonly string[]): NamedDataset {
    return { path: kept.path, source: { name: this.#given, revision: kept.revision }, notes };
  }

  async #download(): Promise<NamedDataset> {
    const { config, split } = await this.#split();
    const lines: string[] = [];
    let truncated = 0;
    let revision: string | null = null;
    for (let offset = 0, total = Infinity; offset < Math.min(total, this.#options.rows); offset += PAGE_ROWS) {
      const length = Math.min(PAGE_ROWS, this.#options.rows - offset);
      const page = await this.#get('rows', { config, split, offset: String(offset), length: String(length) });
      revision = this.#sameRevision(revision, page.revision);
      const folder = join(this.#folder, revision ?? 'unknown');
      const { rows, num_rows_total } = page.json;
      if (!Array.isArray(rows)) throw refusal(this.#given, `${this.#hosts.rowsApi} responded without rows`);
      total = typeof num_rows_total === 'number' ? num_rows_total : offset + rows.length;
      const whole: JsonObject[] = [];
      for (const each of rows as unknown[]) {
        const { row, truncated_cells: cut } = isObject(each) ? each : {};
        if (Array.isArray(cut) && cut.length > 0) truncated++;
        else if (isObject(row)) whole.push(row);
      }
      for (let at = 0; at < whole.length; at += PARALLEL_ROWS)
        lines.push(...(await Promise.all(whole.slice(at, at + PARALLEL_ROWS).map((row) => this.#line(row, folder)))));
      if (rows.length === 0) break;
    }
    if (lines.length === 0) throw refusal(this.#given, `${config}/${split} has no rows`);
    const commit = revision ?? 'unknown';
    const path = join(this.#folder, commit, this.#fileName(config, split));
    await mkdir(dirname(path), { recursive: true });
    await replaceWhenWritten(path, (temporary) => writeFile(temporary, `${lines.join('\n')}\n`));
    const notes = truncated === 0 ? [] : [`${things(truncated, 'rows')} left out, which the rows API truncates`];
    return this.#dataset({ path, revision: commit }, notes);
  }

  /** Its files are saved below the folder: their addresses end after some hours. */
  async #line(row: JsonObject, folder: string): Promise<string> {
    const { column } = this.#options;
    const { images, audio } = mediaCells(row);
    const save = (urls: readonly string[]): Promise<string[]> =>
      Promise.all(urls.map((url) => this.#save(new URL(url, this.#hosts.rowsApi).href, folder)));
    const line = promptRow(row, column, { images: await save(images), audio: await save(audio) });
    if (line !== undefined) return JSON.stringify(line);
    const columns = Object.keys(row).join(', ');
    throw refusal(
      this.#given,
      column === null
        ? `none of its columns is known to have prompts: --dataset-column with one of ${columns}`
        : `a row has no text in the column ${column}; it has ${columns}`,
    );
  }

  /** The path below the folder, by the content. */
  async #save(url: string, folder: string): Promise<string> {
    const response = await reach(url, {});
    if (!response.ok) throw refusal(this.#given, `HTTP ${response.status} for a file of ${new URL(url).origin}`);
    const file = await limitedBytes(response, MAX_MEDIA_BYTES, this.#given, 'a file of its rows');
    this.#mediaBytes += file.length;
    if (this.#mediaBytes > MAX_MEDIA_BYTES)
      throw refusal(
        this.#given,
        `the files of its rows have more than ${MAX_MEDIA_BYTES} bytes: use fewer --dataset-rows`,
      );
    const path = join(MEDIA_FOLDER, createHash('sha256').update(file).digest('hex'));
    await mkdir(join(folder, MEDIA_FOLDER), { recursive: true });
    await replaceWhenWritten(join(folder, path), (temporary) => writeFile(temporary, file));
    return path;
  }

  /** The named configuration and split, else the first ones. */
  async #split(): Promise<{ readonly config: string; readonly split: string }> {
    const { config, split } = this.#hub;
    if (config !== null && split !== null) return { config, split };
    const { splits } = (await this.#get('splits', {})).json;
    const all = (Array.isArray(splits) ? (splits as unknown[]) : []).flatMap((each) =>
      isObject(each) && typeof each.config === 'string' && typeof each.split === 'string'
        ? [{ config: each.config, split: each.split }]
        : [],
    );
    const found = all.find((each) => split === null || each.split === split);
    if (found !== undefined) return found;
    const names = [...new Set(all.map((each) => `${each.config}/${each.split}`))];
    throw refusal(this.#given, `it has no split ${split}, only ${names.slice(0, 10).join(', ') || 'none'}`);
  }

  /** A data set that changes while it is read would be a mixture. */
  #sameRevision(before: string | null, now: string | null): string | null {
    const { revision } = this.#hub;
    if (revision !== null && now?.startsWith(revision) !== true)
      throw refusal(
        this.#given,
        `the rows API serves revision ${now ?? 'unknown'}; for an earlier one, download its files and use --input-file`,
      );
    if (before !== null && now !== before) throw refusal(this.#given, 'it changed during the download: try again');
    return now;
  }

  async #get(
    path: string,
    query: Readonly<Record<string, string>>,
  ): Promise<{ json: JsonObject; revision: string | null }> {
    const { rowsApi, token } = this.#hosts;
    const url = `${rowsApi}/${path}?${new URLSearchParams({ dataset: this.#hub.name, ...query }).toString()}`;
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    for (let tried = 1; ; tried++) {
      const response = await reach(url, headers);
      const text = (await limitedBytes(response, MAX_PAGE_BYTES, this.#given, 'a page of its rows')).toString('utf8');
      const json = objectOf(text);
      if (response.ok && json !== null) return { json, revision: response.headers.get('x-revision') };
      const isBusy = response.status === 429 || response.status >= 500;
      if (isBusy && tried < TRIES) {
        await sleep(FIRST_WAIT_MS * 2 ** (tried - 1));
        continue;
      }
      const said = typeof json?.error === 'string' ? json.error.slice(0, 200) : '';
      const gated = response.status === 401 || response.status === 403 ? ' (a gated data set requires HF_TOKEN)' : '';
      throw refusal(this.#given, `HTTP ${response.status} from ${rowsApi}${said === '' ? '' : `: ${said}`}${gated}`);
    }
  }
}

/** Downloads a known file, once. */
async function knownFile(given: string, url: string, hosts: DatasetHosts): Promise<NamedDataset> {
  const path = join(hosts.cache, 'datasets', given, new URL(url).pathname.split('/').at(-1) ?? given);
  const revisionFile = `${path}.revision`;
  const kept = await stat(path).then(
    () => true,
    () => false,
  );
  if (!kept) {
    try {
      if (hosts.offline) throw new Unreachable('HF_HUB_OFFLINE is 1');
      await download(given, url, path, revisionFile);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      const remedy = `without a network, download ${url} elsewhere and use --input-file`;
      throw refusal(given, `${error.message}, and ${dirname(path)} does not hold it; ${remedy}`);
    }
  }
  const revision = (await readFile(revisionFile, 'utf8').catch(() => '')).trim();
  return { path, source: { name: given, revision: revision === '' ? null : revision }, notes: [] };
}

async function download(given: string, url: string, path: string, revisionFile: string): Promise<void> {
  const response = await reach(url, {}, DOWNLOAD_TIMEOUT_MS);
  if (!response.ok || response.body === null) throw refusal(given, `HTTP ${response.status} from ${url}`);
  const bytes = Number(response.headers.get('content-length') ?? 0);
  if (bytes > INPUT_LIMITS.fileBytes)
    throw refusal(given, `${bytes} bytes exceed the limit of ${INPUT_LIMITS.fileBytes}`);
  const body = Readable.fromWeb(response.body);
  await mkdir(dirname(path), { recursive: true });
  try {
    await replaceWhenWritten(path, (temporary) => pipeline(body, createWriteStream(temporary)));
  } catch (error) {
    throw new Unreachable(`${url} broke off (${(error as Error).message})`);
  }
  await writeFile(revisionFile, response.headers.get('x-repo-commit') ?? response.headers.get('etag') ?? '');
}

/** Of a file of several hundred megabytes. */
const DOWNLOAD_TIMEOUT_MS = 3_600_000;

/** There is no connection: something in the cache may do. */
class Unreachable extends Error {}

async function reach(
  url: string,
  headers: Readonly<Record<string, string>>,
  timeout_ms = TIMEOUT_MS,
): Promise<Response> {
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(timeout_ms) });
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    throw new Unreachable(`${new URL(url).origin} cannot be reached (${cause?.code ?? message})`);
  }
}

async function limitedBytes(response: Response, limit: number, given: string, what: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > limit) throw refusal(given, `${what} has more than ${limit} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function objectOf(text: string): JsonObject | null {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
