import { optionalPackage } from './optional-package.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Encodings of OpenAI's tiktoken that are built in. */
export const TIKTOKEN_ENCODINGS = ['o200k_base', 'o200k_harmony', 'cl100k_base', 'p50k_base', 'r50k_base'] as const;
export type TiktokenEncoding = (typeof TIKTOKEN_ENCODINGS)[number];

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

export async function tiktokenTokenizer(encoding: TiktokenEncoding): Promise<Tokenizer> {
  const { encode } = await optionalPackage(LOADERS[encoding], 'gpt-tokenizer', `--tokenizer ${encoding}`);
  // Text that looks like a special token is encoded as ordinary text.
  const options = { disallowedSpecial: new Set<string>() };
  return { name: encoding, identity: `tiktoken ${encoding}`, count: (text) => encode(text, options).length };
}
