import { existsSync } from 'node:fs';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { hubFiles, hubOptions, isHubName } from './hub.ts';
import { huggingFaceTokenizer, readTokenizerFiles } from './hugging-face.ts';
import type { Tokenizer } from './tokenizer.ts';
import { optionalPackage } from './optional-package.ts';

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
