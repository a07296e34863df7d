import type { Option } from './options.ts';

const LONGEST_NAME = 200;

/** The name of a scenario: a label of metrics and a line of tables. */
export function scenarioName<T extends string | null>(help: string, fallback: T): Option<string | T> {
  return {
    help,
    value: 'NAME',
    parse: (given) => {
      const name = given.at(-1) ?? '';
      if (name.trim() === '' || name.length > LONGEST_NAME || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name))
        throw new Error(`a name of 1 to ${LONGEST_NAME} characters on one line`);
      return name;
    },
    fallback,
  };
}
