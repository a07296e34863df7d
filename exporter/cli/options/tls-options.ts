import { ConfigurationError } from '../../errors/expected-error.ts';
import type { TlsFiles } from '../../http-client/tls-files.ts';
import type { WebConfigFile } from '../../http/web-config/web-config.ts';
import { CliError } from '../failure.ts';
import { flag, text, type OptionValues } from './options.ts';

/** Which certificates are accepted and shown. */
export const TLS_OPTIONS = {
  'tls-ca': text('FILE', 'trusted CA certificates (PEM)', null),
  'tls-cert': text('FILE', 'client certificate (PEM)', null),
  'tls-key': text('FILE', 'key of the client certificate (PEM)', null),
  'tls-insecure': flag("do not verify the server's certificate"),
};

/** For requests to the benchmarked servers and to metrics pages. */
export const PROXY_OPTIONS = {
  'no-proxy': flag('connect directly, without the proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY set'),
};

export function tlsFiles(options: OptionValues<typeof TLS_OPTIONS>, serverName: string | null = null): TlsFiles {
  return {
    caFile: options['tls-ca'],
    certFile: options['tls-cert'],
    keyFile: options['tls-key'],
    serverName,
    insecure: options['tls-insecure'],
  };
}

/**
 * The web configuration file that the option `name` gives; null without one. `say` receives a line for each later change that
 * is not valid. Throws a `CliError` if the file is not valid.
 */
export async function requestedWebConfig(
  name: string,
  path: string | null,
  say: (line: string) => void,
): Promise<WebConfigFile | null> {
  if (path === null) return null;
  const { WebConfigFile } = await import('../../http/web-config/web-config.ts');
  try {
    return new WebConfigFile(path, say);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new CliError(`--${name}: ${error.message}`);
    throw error;
  }
}

/**
 * Header lines by their name in lower case (RFC 9110 field names and values). `ownHeaders`: those that the client sets
 * itself. Throws a `CliError` without the value, which may be a secret.
 */
export function headersOf(
  lines: readonly string[],
  option: string,
  ownHeaders: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const entries = lines.map((line) => {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*)$/.exec(line);
    if (match === null) {
      const given = line.includes(':') ? ` '${line.slice(0, line.indexOf(':'))}…'` : '';
      throw new CliError(`${option}${given} must be NAME: VALUE`);
    }
    const name = (match[1] ?? '').toLowerCase();
    if (ownHeaders.has(name)) throw new CliError(`${option}: ${name} is set by the HTTP client`);
    return [name, match[2] ?? ''] as const;
  });
  return Object.fromEntries(entries);
}
