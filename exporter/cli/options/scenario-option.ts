import { isName, NAME_RULE } from '../../../core/run/tag.ts';
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
