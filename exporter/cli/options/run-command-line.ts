import { CHECK_OPTIONS } from './judge-options.ts';
import type { LoadStep } from './load-options.ts';
import type { GivenValues } from './options.ts';
import { RUN_OPTIONS } from './run-options.ts';

/** Not part of a command that measures the same again: they name one execution, group runs, print or judge. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['run-id', 'shard', 'start-at', 'config', 'num-profile-runs', 'profile-run-cooldown-seconds', 'json', 'check'],
  ...Object.keys(CHECK_OPTIONS),
]);

/**
 * The words of a command that measures one load again, from wherever its options were given. Values of headers and
 * the credentials and query values of URLs are replaced by `***`.
 */
export function runCommandLine(given: GivenValues, step: LoadStep | undefined): readonly string[] {
  const words = Object.entries(RUN_OPTIONS).flatMap(([name, option]) => {
    const texts = LEFT_OUT.has(name) ? undefined : textsOfStep(name, given, step);
    if (texts === undefined) return [];
    const { value, multiple } = option as { value?: string; multiple?: boolean };
    if (value === undefined) return isOff(texts.at(-1)) ? [] : [`--${name}`];
    const used = multiple === true ? texts : texts.slice(-1);
    return used.flatMap((text) => optionWords(name, withoutSecrets(name, value, text)));
  });
  return ['llmbench', 'run', ...words];
}

/** A list of loads becomes the load of the step. */
function textsOfStep(name: string, given: GivenValues, step: LoadStep | undefined): readonly string[] | undefined {
  const texts = given.get(name)?.texts;
  const one = name === 'concurrency' ? step?.concurrency : name === 'request-rate' ? step?.requestRate : undefined;
  return texts === undefined || one === undefined || one === null ? texts : [String(one)];
}

const isOff = (text: string | undefined): boolean => text === 'false' || text === '0';

const optionWords = (name: string, text: string): readonly string[] =>
  text.startsWith('-') ? [`--${name}=${text}`] : [`--${name}`, text];

/** Any header may be a credential, whatever its name. */
function withoutSecrets(name: string, value: string, text: string): string {
  if (/(^|-)header$/.test(name)) return text.replace(/:.*$/s, ': ***');
  if (value === 'URL…' && text.startsWith('{')) return pageWithoutSecrets(text);
  if (value === 'URL…') return text.split(',').map(addressWithoutSecrets).join(',');
  return value === 'URL' ? addressWithoutSecrets(text) : urlsWithoutSecrets(text);
}

/** A metrics page of a scenario file: fields with their texts. */
function pageWithoutSecrets(text: string): string {
  const fields = Object.entries(JSON.parse(text) as Readonly<Record<string, readonly string[]>>);
  const shown = fields.map(([name, texts]) => {
    const value = name === 'url' ? 'URL' : '';
    return [name, texts.map((each) => withoutSecrets(name, value, each))] as const;
  });
  return JSON.stringify(Object.fromEntries(shown));
}

/** A URL, or an address without a scheme: `user:password@host:8000`. */
const addressWithoutSecrets = (text: string): string =>
  text
    .replace(/^((?:[\w-]+=)?(?:[a-z][a-z0-9+.-]*:\/\/)?)[^/?#\s]*@/i, '$1***@')
    .replace(/#.*$/s, '')
    .replace(/\?.*$/s, hiddenQuery);

/** The names stay, so that a reader knows what to fill in. */
const hiddenQuery = (query: string): string =>
  query.replace(/([?&])([^=&]*)(=?)[^&]*/g, (_, mark: string, name: string, is: string) =>
    is === '' ? `${mark}***` : `${mark}${name}=***`,
  );

/** URLs within a text. */
const urlsWithoutSecrets = (text: string): string =>
  text.replace(/(\w:\/\/)[^/?#\s]*@/g, '$1***@').replace(/(\w:\/\/[^\s?#"']*)\?[^\s#"',}]*/g, '$1?***');
