import type { Option } from './options.ts';

const TAG = /^[0-9A-Za-z._-]{1,64}$/;

export const TAG_RULE = "1 to 64 characters of 0–9, A–Z, a–z, '.', '_' and '-'";

export const isTag = (text: string): boolean => TAG.test(text);

/** Tags of new runs, sorted and each once. */
export const TAGS: Option<readonly string[]> = {
  help: 'tag of the run, to find it with `runs list --where tag=TAG`; may be repeated',
  value: 'TAG',
  multiple: true,
  parse(given) {
    if (!given.every(isTag)) throw new Error(TAG_RULE);
    return [...new Set(given)].sort();
  },
  fallback: [],
};
