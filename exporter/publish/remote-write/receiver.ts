import { readFile } from 'node:fs/promises';
import { ConfigurationError, codeOf } from '../../errors/expected-error.ts';
import { queryValues } from '../../http-client/public-url.ts';
import { readTlsFiles, type TlsFiles, type TlsSettings } from '../../http-client/tls-files.ts';

/** A remote-write receiver and its credentials. Secrets are in memory only. */
export interface Receiver {
  readonly url: string;
  /** Also credentials; sent with every request. Never shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsSettings;
  /** Strings that must not appear in any message. */
  readonly secrets: readonly string[];
  readonly protocol: ProtocolChoice;
}

export const PROTOCOL_CHOICES = ['auto', '1', '2'] as const;
/** `auto`: 2.0, with a fallback to 1.0 for receivers that do not support it. */
export type ProtocolChoice = (typeof PROTOCOL_CHOICES)[number];
export type Protocol = '1' | '2';

/** Headers that are set by the protocol or the transport and cannot be overridden. */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-type',
  'content-length',
  'x-prometheus-remote-write-version',
  'user-agent',
  'host',
  'connection',
  'transfer-encoding',
  'expect',
]);

/** Source of a secret. An option's value never is one: it would be visible in the process list. */
export interface SecretSource {
  readonly environmentVariable: string | null;
  readonly file: string | null;
}

/** A receiver as configured by options. */
export interface ReceiverRequest {
  readonly url: string;
  readonly protocol: ProtocolChoice;
  /** Basic authentication; null: none. */
  readonly username: string | null;
  readonly password: SecretSource;
  readonly bearer: SecretSource;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers whose values are in environment variables. */
  readonly headerVariables: Readonly<Record<string, string>>;
  readonly tls: TlsFiles;
}

/** Reads the secrets and files of a request. Throws a `ConfigurationError` that contains none of them. */
export async function readReceiver(request: ReceiverRequest, environment: NodeJS.ProcessEnv): Promise<Receiver> {
  const { url, username: urlUser, password: urlPassword } = withoutUserInfo(request.url);
  const password = await readSecret(request.password, '--remote-write-password', environment);
  const bearer = await readSecret(request.bearer, '--remote-write-bearer', environment);
  const username = request.username ?? urlUser;
  if (bearer !== null && username !== null)
    throw new ConfigurationError('--remote-write-username and --remote-write-bearer-… cannot be used together');
  if (username === null && password !== null)
    throw new ConfigurationError('--remote-write-password-… needs --remote-write-username');
  const headerSecrets = Object.entries(request.headerVariables).map(
    ([name, variable]) => [name, variableText(variable, '--remote-write-header-env', environment)] as const,
  );
  const secret = password ?? urlPassword ?? '';
  const authorization =
    bearer !== null
      ? { authorization: `Bearer ${bearer}` }
      : username === null
        ? {}
        : { authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}` };
  return {
    url,
    headers: { ...request.headers, ...Object.fromEntries(headerSecrets), ...authorization },
    tls: await readTlsFiles(request.tls, '--remote-write-'),
    secrets: [
      ...new Set([
        secret,
        bearer ?? '',
        ...headerSecrets.map(([, value]) => value),
        ...Object.values(request.headers),
        ...Object.values(authorization).map((value) => value.slice(value.indexOf(' ') + 1)),
        ...queryValues(url),
      ]),
    ].filter((text) => text.length > 3),
    protocol: request.protocol,
  };
}

/** The text in an environment variable or a file; null if neither is set. Throws a `ConfigurationError`. */
export async function readSecret(
  { environmentVariable, file }: SecretSource,
  option: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | null> {
  if (environmentVariable !== null && file !== null)
    throw new ConfigurationError(`${option}-env and ${option}-file cannot be used together`);
  if (environmentVariable !== null) return variableText(environmentVariable, `${option}-env`, environment);
  if (file === null) return null;
  const text = (await fileText(file, `${option}-file`)).trim();
  return headerText(text, `${option}-file ${file}`);
}

function variableText(variable: string, option: string, environment: NodeJS.ProcessEnv): string {
  const text = environment[variable];
  if (text === undefined || text === '')
    throw new ConfigurationError(`${option}: the environment variable ${variable} is not set`);
  return headerText(text, `${option} ${variable}`);
}

function headerText(text: string, where: string): string {
  if (!/^[\x20-\x7e]+$/.test(text))
    throw new ConfigurationError(`${where}: it is empty or contains a character that is not allowed in a header`);
  return text;
}

async function fileText(path: string, option: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigurationError(`${option} ${path}: ${codeOf(error) ?? String(error)}`);
  });
}

/** Throws a `ConfigurationError` without the URL, which may contain a secret. */
function withoutUserInfo(text: string): { url: string; username: string | null; password: string | null } {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigurationError('--remote-write-url must be an http or https address: http://host:9090/api/v1/write');
  const username = url.username === '' ? null : decodeURIComponent(url.username);
  const password = url.password === '' ? null : decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  url.hash = '';
  return { url: url.href, username, password };
}

/** One line on a receiver that does not accept samples, which are sent again for `seconds`. */
export function delayText(reason: string, seconds: number): string {
  return `remote write: ${reason}; trying again for up to ${Math.max(1, Math.round(seconds))} s`;
}
