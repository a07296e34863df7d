import { SERVER_LISTS } from './server-options.ts';

/** Flags of `run` that take several values in a row. */
export const RUN_LISTS = [...SERVER_LISTS, '--url', '--header', '--extra-inputs', '--goodput', '--slo', '--tag'];

/**
 * Lets the flags named take several values in a row, as AIPerf's do: `--formats json csv` becomes
 * `--formats json --formats csv`. What begins with a dash ends the list.
 */
export function spreadLists(argv: readonly string[], flags: readonly string[]): string[] {
  const spread: string[] = [];
  let list: string | null = null;
  let first = false;
  for (const argument of argv) {
    if (argument.startsWith('-')) {
      list = flags.includes(argument) ? argument : null;
      first = true;
      spread.push(argument);
    } else if (list !== null && !first) {
      spread.push(list, argument);
    } else {
      spread.push(argument);
      first = false;
    }
  }
  return spread;
}
