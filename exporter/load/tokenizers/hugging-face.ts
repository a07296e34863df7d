import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { optionalPackage } from './optional-package.ts';
import type { Tokenizer } from './tokenizer.ts';

/** The part of the package that is used; its own declarations do not resolve under Node's module resolution. */
interface TokenizersPackage {
  readonly Tokenizer: new (
    definition: object,
    config: object,
  ) => { encode(text: string, options: { readonly add_special_tokens: boolean }): { readonly ids: readonly number[] } };
}

const MAX_DEFINITION_BYTES = 256 * 2 ** 20;

/** Contents of the two files that define a tokenizer in the Hugging Face format; the second one is optional. */
export interface TokenizerFiles {
  readonly tokenizerJson: string;
  readonly tokenizerConfigJson: string | null;
}

/** Reads a `tokenizer.json`, or the folder that contains it. Throws a `ConfigurationError`. */
export async function readTokenizerFiles(path: string): Promise<TokenizerFiles> {
  const isFolder = (await stat(path)).isDirectory();
  const file = isFolder ? join(path, 'tokenizer.json') : path;
  const config = join(file, '..', 'tokenizer_config.json');
  const tokenizerJson = await limited(file);
  if (tokenizerJson === null) throw new ConfigurationError(`--tokenizer ${path}: the folder has no tokenizer.json`);
  return { tokenizerJson, tokenizerConfigJson: await limited(config) };
}

/** Makes the tokenizer that the files define. Throws a `ConfigurationError` when they are invalid. */
export async function huggingFaceTokenizer(name: string, files: TokenizerFiles): Promise<Tokenizer> {
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
