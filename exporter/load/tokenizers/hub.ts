import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import type { TokenizerFiles } from './hugging-face.ts';

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
export const isHubName = (name: string): boolean => /^[A-Za-z0-9][\w.-]{0,95}(\/[A-Za-z0-9][\w.-]{0,95})?$/.test(name);

/** The tokenizer's files of a model on the hub, from a cache or by download. Throws a `ConfigurationError`. */
export async function hubFiles(name: string, revision: string, options: HubOptions): Promise<TokenizerFiles> {
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
