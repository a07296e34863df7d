import type { JsonValue } from './canonical-json.ts';

/** What stands for a secret in every file and message. */
export const HIDDEN = '***';

/** Last words of names whose values are credentials. */
const SECRET_NOUNS: ReadonlySet<string> = new Set([
  ...['secret', 'secrets', 'password', 'passwd', 'passphrase', 'pwd', 'credential', 'credentials'],
  ...['authorization', 'authentication', 'auth', 'bearer', 'cookie', 'cookies', 'jwt', 'apikey', 'apikeys'],
  // Any header may be a credential, whatever its name.
  ...['header', 'headers'],
]);
/** Words that make the `key` after them a credential; `prompt_cache_key` is none. */
const KEY_OWNERS: ReadonlySet<string> = new Set([
  ...['api', 'access', 'private', 'secret', 'auth', 'account', 'subscription', 'signing', 'encryption', 'client'],
  ...['service', 'license', 'session', 'user', 'admin', 'master', 'x'],
]);
/** Words before `token` that name a token of the model. */
const MODEL_TOKENS: ReadonlySet<string> = new Set([
  ...['eos', 'bos', 'pad', 'unk', 'sep', 'cls', 'mask', 'stop', 'start', 'end', 'image', 'audio', 'video', 'special'],
  ...['think', 'decoder', 'forced', 'suffix', 'prefix', 'first', 'last', 'max', 'min', 'per', 'input', 'output'],
]);
/** Credentials by their form: keys of well-known services, JSON Web Tokens, values of the header Authorization. */
const SECRET_FORM =
  /^(?:[spr]k[-_][\w-]{16,}|hf_\w{16,}|gh[opsur]_\w{16,}|nvapi-[\w-]{16,}|xox[a-z]-[\w-]{8,}|AKIA[0-9A-Z]{16}$|eyJ[\w-]+\.[\w-]+\.|(?:Bearer|Basic)\s+\S)/i;

/** Whether the text under this name is a credential: `api_key`, `authToken`, `X-Auth-Token`, `headers`; not `eos_token`. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  const owner = words.at(-2);
  if (SECRET_NOUNS.has(last)) return true;
  if (last === 'key' || last === 'keys') return owner === undefined || KEY_OWNERS.has(owner);
  return last === 'token' && (owner === undefined || !MODEL_TOKENS.has(owner));
}

/**
 * The value with `***` for each text or number that is a credential by its name, by that of what contains it, or by its form,
 * and for the user info and queries of URLs.
 */
export function withoutSecrets<T extends JsonValue>(value: T): T;
export function withoutSecrets(value: JsonValue): JsonValue {
  return mapped(value, false, (text, isSecret) => (isSecret ? HIDDEN : urlsWithoutSecrets(text)));
}

/** URLs within a text without user info and queries; the patterns read each character once. */
export const urlsWithoutSecrets = (text: string): string =>
  text
    .replace(/(\w:\/\/)[^/?#\s]*@/g, `$1${HIDDEN}@`)
    .replace(/(\w:\/\/(?:[^\s?#"':]|:(?!\/\/))*)\?[^\s#"',}]*/g, `$1?${HIDDEN}`);

/** The whole texts and numbers that `withoutSecrets` replaces. */
export function secretsOf(value: JsonValue): readonly string[] {
  const found: string[] = [];
  mapped(value, false, (text, isSecret) => {
    if (isSecret) found.push(text);
    return text;
  });
  return found;
}

function mapped(
  value: JsonValue,
  isInSecret: boolean,
  change: (text: string, isSecret: boolean) => JsonValue,
): JsonValue {
  if (typeof value === 'string') return value === '' ? value : change(value, isInSecret || SECRET_FORM.test(value));
  // A password may consist of digits.
  if (typeof value === 'number' && isInSecret) return change(String(value), true) === HIDDEN ? HIDDEN : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((each) => mapped(each, isInSecret, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, mapped(each, isInSecret || isSecretName(name), change)]),
  );
}
