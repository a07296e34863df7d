import { existsSync } from 'node:fs';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { hubFiles, hubOptions, isHubName } from './hub.ts';
import { huggingFaceTokenizer, readTokenizerFiles } from './hugging-face.ts';
import { TIKTOKEN_ENCODINGS, tiktokenTokenizer } from './tiktoken.ts';
import type { Tokenizer } from './tokenizer.ts';

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
