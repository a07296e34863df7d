import { createHash } from 'node:crypto';
import { readFile, stat, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { homedir } from 'node:os';
import { existsSync } from 'node:fs';
import { ConfigurationError } from '../../errors/expected-error.ts';

/** Imports an optional package. Throws a `ConfigurationError` with the command that installs it. */
export async function optionalPackage<T>(load: () => Promise<T>, name: string, wantedBy: string): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new ConfigurationError(`${wantedBy} requires the package ${name}: npm install ${name}`);
  }
}

/** Node's code, or jest's equivalent. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && error.message.includes(name);
}

/** Counts the tokens of a text as a model's tokenizer does, without special tokens and without a chat template. */
export interface Tokenizer {
  /** The name that was requested: a path, a name on the hub or an encoding. */
  readonly name: string;
  /** SHA-256 (hex) of its definition, or for a built-in one its name and version: part of the plan. */
  readonly identity: string;
  count(text: string): number;
}

/** The part of the package that is used; its own declarations do not resolve under Node's module resolution. */
interface TokenizersPackage {
  readonly Tokenizer: new (
    definition: object,
    config: object,
  ) => { encode(text: string, options: { readonly add_special_tokens: boolean }): { readonly ids: readonly number[] } };
}

const MAX_DEFINITION_BYTES = 256 * 2 ** 20;

/** Contents of the two files that define a tokenizer in the Hugging Face format; the second one is optional. */
interface TokenizerFiles {
  readonly tokenizerJson: string;
  readonly tokenizerConfigJson: string | null;
}

/** Reads a `tokenizer.json`, or the folder that contains it. Throws a `ConfigurationError`. */
async function readTokenizerFiles(path: string): Promise<TokenizerFiles> {
  const isFolder = (await stat(path)).isDirectory();
  const file = isFolder ? join(path, 'tokenizer.json') : path;
  const config = join(file, '..', 'tokenizer_config.json');
  const tokenizerJson = await limited(file);
  if (tokenizerJson === null) throw new ConfigurationError(`--tokenizer ${path}: the folder has no tokenizer.json`);
  return { tokenizerJson, tokenizerConfigJson: await limited(config) };
}

/** Makes the tokenizer that the files define. Throws a `ConfigurationError` when they are invalid. */
async function huggingFaceTokenizer(name: string, files: TokenizerFiles): Promise<Tokenizer> {
  const { Tokenizer: Definition } = await optionalPackage(
    () => import('@huggingface/tokenizers') as Promise<unknown> as Promise<TokenizersPackage>,
    '@huggingface/tokenizers',
    `--tokenizer ${name}`,
  );
  try {
    const tokenizer = new Definition(parsed(files.tokenizerJson), parsed(files.tokenizerConfigJson ?? '{}'));
    const count = (text: string): number => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
    // Some definitions fail only on first use.
    count('Hello, world!');
    return { name, identity: createHash('sha256').update(files.tokenizerJson).digest('hex'), count };
  } catch (error) {
    throw new ConfigurationError(`--tokenizer ${name}: not a usable tokenizer.json (${firstLine(error)})`);
  }
}

async function limited(file: string): Promise<string | null> {
  const size = await stat(file).then(
    (found) => found.size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );
  if (size === null) return null;
  if (size > MAX_DEFINITION_BYTES)
    throw new ConfigurationError(`${file}: ${size} bytes exceed the limit of ${MAX_DEFINITION_BYTES}`);
  return readFile(file, 'utf8');
}

function parsed(json: string): object {
  const value: unknown = JSON.parse(json);
  if (typeof value !== 'object' || value === null) throw new Error('not a JSON object');
  return value;
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 120) ?? '';

const TIMEOUT_MS = 60_000;
const FILES = ['tokenizer.json', 'tokenizer_config.json'] as const;

/** Location of the hub and of its caches. */
export interface HubOptions {
  /** `HF_ENDPOINT`: scheme and host. */
  readonly endpoint: string;
  /** `HF_TOKEN`, for gated models; null: none. It is sent to the endpoint only. */
  readonly token: string | null;
  /** The cache of the hub's own tools: files in it are used as they are. */
  readonly hubCache: string;
  /** Where llmbench keeps downloaded files. */
  readonly ownCache: string;
  /** `HF_HUB_OFFLINE`: nothing is downloaded. */
  readonly offline: boolean;
}

/** The hub's usual settings from the environment. */
export function hubOptions(environment: NodeJS.ProcessEnv): HubOptions {
  const cache = environment.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const home = environment.HF_HOME ?? join(cache, 'huggingface');
  return {
    endpoint: (environment.HF_ENDPOINT ?? 'https://huggingface.co').replace(/\/+$/, ''),
    token: environment.HF_TOKEN ?? null,
    hubCache: environment.HF_HUB_CACHE ?? join(home, 'hub'),
    ownCache: environment.LLMBENCH_CACHE_DIR ?? join(cache, 'llmbench'),
    offline: environment.HF_HUB_OFFLINE === '1',
  };
}

/** A name on the hub: `organization/model`, or one word for the oldest models. */
const isHubName = (name: string): boolean => /^[A-Za-z0-9][\w.-]{0,95}(\/[A-Za-z0-9][\w.-]{0,95})?$/.test(name);

/** The tokenizer's files of a model on the hub, from a cache or by download. Throws a `ConfigurationError`. */
async function hubFiles(name: string, revision: string, options: HubOptions): Promise<TokenizerFiles> {
  if (!/^[\w.-]{1,100}$/.test(revision))
    throw new ConfigurationError(`--tokenizer-revision '${revision}' must be a branch, a tag or a commit`);
  const known =
    (await ofHubCache(name, revision, options.hubCache)) ?? (await ofFolder(ownFolder(name, revision, options)));
  if (known !== null) return known;
  if (options.offline) throw new ConfigurationError(`--tokenizer ${name}: not in the cache, and HF_HUB_OFFLINE is 1`);
  const folder = ownFolder(name, revision, options);
  const [tokenizerJson, config] = await Promise.all(FILES.map((file) => download(name, revision, file, options)));
  if (tokenizerJson == null)
    throw new ConfigurationError(`--tokenizer ${name}: the model has no tokenizer.json in revision ${revision}`);
  await keep(folder, 'tokenizer_config.json', config ?? '{}');
  await keep(folder, 'tokenizer.json', tokenizerJson);
  return { tokenizerJson, tokenizerConfigJson: config ?? null };
}

const ownFolder = (name: string, revision: string, { ownCache }: HubOptions): string =>
  join(ownCache, 'tokenizers', name.replace('/', '--'), revision);

/** `models--org--name/refs/<revision>` contains the commit, and `snapshots/<commit>` the files. */
async function ofHubCache(name: string, revision: string, hubCache: string): Promise<TokenizerFiles | null> {
  const model = join(hubCache, `models--${name.replace('/', '--')}`);
  const commit = (await textOf(join(model, 'refs', revision)))?.trim() ?? revision;
  return /^[\w.-]+$/.test(commit) ? ofFolder(join(model, 'snapshots', commit)) : null;
}

async function ofFolder(folder: string): Promise<TokenizerFiles | null> {
  const tokenizerJson = await textOf(join(folder, 'tokenizer.json'));
  if (tokenizerJson === null) return null;
  return { tokenizerJson, tokenizerConfigJson: await textOf(join(folder, 'tokenizer_config.json')) };
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** Null when the model does not have the file. */
async function download(name: string, revision: string, file: string, options: HubOptions): Promise<string | null> {
  const url = `${options.endpoint}/${name}/resolve/${revision}/${file}`;
  const headers = options.token === null ? {} : { authorization: `Bearer ${options.token}` };
  let response: Response;
  let body: string;
  try {
    response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    body = await response.text();
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    const why = cause?.code ?? message;
    throw new ConfigurationError(
      `--tokenizer ${name}: ${options.endpoint} cannot be reached (${why}); a local folder requires no download`,
    );
  }
  if (response.status === 404) return null;
  if (response.status === 401 || response.status === 403)
    throw new ConfigurationError(
      `--tokenizer ${name}: HTTP ${response.status}: the model does not exist, or is gated and requires HF_TOKEN`,
    );
  if (!response.ok)
    throw new ConfigurationError(`--tokenizer ${name}: HTTP ${response.status} from ${options.endpoint}`);
  return body;
}

/** Written atomically, also when several processes download the same file. */
async function keep(folder: string, file: string, text: string): Promise<void> {
  const unfinished = join(folder, `.${file}.${process.pid}`);
  await mkdir(folder, { recursive: true });
  await writeFile(unfinished, text);
  await rename(unfinished, join(folder, file));
}

export const DEFAULT_TOKENIZER_REVISION = 'main';

/**
 * Resolves `--tokenizer`: a tiktoken encoding by its name (`builtin` is o200k_base), a path to a `tokenizer.json` or to
 * its folder, or the name of a model on the Hugging Face hub. Throws a `ConfigurationError`.
 */
export async function loadTokenizer(
  name: string,
  revision: string,
  environment: NodeJS.ProcessEnv,
): Promise<Tokenizer> {
  const wanted = name === 'builtin' ? 'o200k_base' : name;
  const encoding = TIKTOKEN_ENCODINGS.find((known) => known === wanted);
  if (encoding !== undefined) return tiktokenTokenizer(encoding);
  if (existsSync(name)) return huggingFaceTokenizer(name, await readTokenizerFiles(name));
  const looksLikePath = /^[./~]|\.json$/.test(name);
  if (looksLikePath || !isHubName(name)) {
    throw new ConfigurationError(
      `--tokenizer ${name}: the file or folder does not exist; other forms are a model on the hub (organization/model) and ` +
        TIKTOKEN_ENCODINGS.join(', '),
    );
  }
  return huggingFaceTokenizer(name, await hubFiles(name, revision, hubOptions(environment)));
}

/** Encodings of OpenAI's tiktoken that are built in. */
export const TIKTOKEN_ENCODINGS = ['o200k_base', 'o200k_harmony', 'cl100k_base', 'p50k_base', 'r50k_base'] as const;
type TiktokenEncoding = (typeof TIKTOKEN_ENCODINGS)[number];

interface Encoding {
  readonly encode: (text: string, options: { readonly disallowedSpecial: Set<string> }) => readonly number[];
}

/** Each encoding is a separate file, so that only its vocabulary is loaded. */
const LOADERS: Readonly<Record<TiktokenEncoding, () => Promise<Encoding>>> = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  o200k_harmony: () => import('gpt-tokenizer/encoding/o200k_harmony'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
  p50k_base: () => import('gpt-tokenizer/encoding/p50k_base'),
  r50k_base: () => import('gpt-tokenizer/encoding/r50k_base'),
};

async function tiktokenTokenizer(encoding: TiktokenEncoding): Promise<Tokenizer> {
  const { encode } = await optionalPackage(LOADERS[encoding], 'gpt-tokenizer', `--tokenizer ${encoding}`);
  // Text that looks like a special token is encoded as ordinary text.
  const options = { disallowedSpecial: new Set<string>() };
  return { name: encoding, identity: `tiktoken ${encoding}`, count: (text) => encode(text, options).length };
}
