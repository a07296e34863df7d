import { HIDDEN, urlsWithoutSecrets } from '../../../core/run/secret-fields.ts';
import { publicExtraInput } from '../../load/endpoints/extra-inputs.ts';
import { metadataPair } from '../../provenance/provenance-request.ts';
import type { Option } from './options.ts';
import { RUN_OPTIONS } from './run-options.ts';

/**
 * The value of an option of `run` as it may be shown and stored. Replaced by `***`: values of headers, because any header may
 * be a credential; credentials and query values of URLs; credentials in extra inputs.
 */
export function publicValue(name: string, text: string): string {
  const option: Option<unknown> | undefined = Object.hasOwn(RUN_OPTIONS, name)
    ? RUN_OPTIONS[name as keyof typeof RUN_OPTIONS]
    : undefined;
  return valueWithoutSecrets(name, option?.value ?? '', text);
}

function valueWithoutSecrets(name: string, value: string, text: string): string {
  if (/(^|-)header$/.test(name)) return text.includes(':') ? text.replace(/:.*$/s, `: ${HIDDEN}`) : HIDDEN;
  if (name === 'extra-inputs') return publicExtraInput(text);
  if (name === 'metadata') return publicMetadata(text);
  if (value === 'URL…' && text.startsWith('{')) return pageWithoutSecrets(text);
  if (value === 'URL…') return text.split(',').map(publicAddress).join(',');
  return value === 'URL' || value === 'PATH' ? publicAddress(text) : urlsWithoutSecrets(text);
}

const publicMetadata = (text: string): string => {
  const [key, value] = metadataPair(text) ?? ['', HIDDEN];
  return `${key}=${value}`;
};

/** A metrics page of a scenario file: fields with their texts. */
function pageWithoutSecrets(text: string): string {
  const fields = Object.entries(JSON.parse(text) as Readonly<Record<string, readonly string[]>>);
  const shown = fields.map(([name, texts]) => {
    const value = name === 'url' ? 'URL' : '';
    return [name, texts.map((each) => valueWithoutSecrets(name, value, each))] as const;
  });
  return JSON.stringify(Object.fromEntries(shown));
}

/** A URL, an address without a scheme (`user:password@host:8000`), or a URL of service discovery (`http-sd:URL`). */
export const publicAddress = (text: string): string =>
  text
    .replace(/^((?:http-sd:)?(?:[\w-]+=)?(?:[a-z][a-z0-9+.-]*:\/\/)?)[^/?#\s]*@/i, '$1***@')
    .replace(/#.*$/s, '')
    .replace(/\?.*$/s, hiddenQuery);

/** The names stay, so that a reader knows what to fill in. */
const hiddenQuery = (query: string): string =>
  query.replace(/([?&])([^=&]*)(=?)[^&]*/g, (_, mark: string, name: string, is: string) =>
    is === '' ? `${mark}***` : `${mark}${name}=***`,
  );

/** Arguments of `ab` as they may be shown and stored: without secrets, see `publicValue`. */
export function shownArguments(argv: readonly string[]): readonly string[] {
  return argv.map((argument, i) => {
    const [, name, inline] = OPTION.exec(argument) ?? [];
    if (name !== undefined) return inline === undefined ? argument : `--${name}=${shown(name, inline)}`;
    const [, before, given] = OPTION.exec(argv[i - 1] ?? '') ?? [];
    return before === undefined || given !== undefined ? argument : shown(before, argument);
  });
}

const OPTION = /^--([a-z-]+)(?:=(.*))?$/s;

function shown(name: string, text: string): string {
  if (name === 'a' || name === 'b') return publicAddress(text);
  try {
    return publicValue(name.replace(/^[ab]-/, ''), text);
  } catch {
    // It is not valid, which is reported where it is used.
    return HIDDEN;
  }
}
