import { isName, isTag, NAME_RULE, TAG_RULE } from '../../../core/run/run.ts';
import type { Option } from './options.ts';

/** The name of a scenario: a label of metrics and a line of tables. */
export function scenarioName<T extends string | null>(help: string, fallback: T): Option<string | T> {
  return {
    help,
    value: 'NAME',
    parse: (given) => {
      const name = given.at(-1) ?? '';
      if (!isName(name)) throw new Error(NAME_RULE);
      return name;
    },
    fallback,
  };
}

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
