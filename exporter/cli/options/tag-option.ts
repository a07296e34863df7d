import { isTag, TAG_RULE } from '../../../core/run/tag.ts';
import type { Option } from './options.ts';

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
