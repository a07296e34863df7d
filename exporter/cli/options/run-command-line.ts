import { CHECK_OPTIONS } from './judge-options.ts';
import type { LoadStep } from './load-options.ts';
import type { GivenValues } from './options.ts';
import { publicValue } from './public-value.ts';
import { RUN_OPTIONS } from './run-options.ts';

/** Not part of a command that measures the same again: they name one execution, group runs, print or judge. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['run-id', 'shard', 'start-at', 'config', 'num-profile-runs', 'profile-run-cooldown-seconds', 'json', 'check'],
  ...['show-servers', 'verbose', 'sweep', 'sweep-max'],
  // Facts about one execution.
  ...['metadata', 'server-image'],
  ...['find', 'find-max', 'max-requests', 'max-seconds'],
  ...Object.keys(CHECK_OPTIONS),
]);

/**
 * The words of a command that measures one load again, from wherever its options were given. Secrets are
 * replaced by `***`, see `publicValue`.
 */
export function runCommandLine(given: GivenValues, step: LoadStep | undefined): readonly string[] {
  const words = Object.entries(RUN_OPTIONS).flatMap(([name, option]) => {
    const texts = LEFT_OUT.has(name) ? undefined : textsOfStep(name, given, step);
    if (texts === undefined) return [];
    const { value, multiple } = option as { value?: string; multiple?: boolean };
    if (value === undefined) return isOff(texts.at(-1)) ? [] : [`--${name}`];
    const used = multiple === true ? texts : texts.slice(-1);
    return used.flatMap((text) => optionWords(name, publicValue(name, text)));
  });
  return ['llmbench', 'run', ...words];
}

/** A list of loads becomes the load of the step. */
function textsOfStep(name: string, given: GivenValues, step: LoadStep | undefined): readonly string[] | undefined {
  const texts = given.get(name)?.texts;
  const one = name === 'concurrency' ? step?.concurrency : name === 'request-rate' ? step?.requestRate : undefined;
  return one === undefined || one === null ? texts : [one === Infinity ? 'inf' : String(one)];
}

const isOff = (text: string | undefined): boolean => text === 'false' || text === '0';

const optionWords = (name: string, text: string): readonly string[] =>
  text.startsWith('-') ? [`--${name}=${text}`] : [`--${name}`, text];
