import { readFile } from 'node:fs/promises';
import { ConfigurationError } from '../errors/expected-error.ts';

/** Which certificates are accepted and shown, as the user configured it; paths of PEM files. */
export interface TlsFiles {
  /** Certificates of authorities to trust instead of the default ones. */
  readonly caFile: string | null;
  /** The client certificate and its key, for servers that require one. */
  readonly certFile: string | null;
  readonly keyFile: string | null;
  /** The name that the server's certificate must be for, instead of the URL's host. */
  readonly serverName: string | null;
  /** Accepts any certificate. */
  readonly insecure: boolean;
}

/** Options of a TLS connection, as Node's `tls.connect` takes them. */
export interface TlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Reads the files; `prefix`: of the options. Throws a `ConfigurationError` that names the option and the file. */
export async function readTlsFiles(files: TlsFiles, prefix = '--'): Promise<TlsSettings> {
  if ((files.certFile === null) !== (files.keyFile === null))
    throw new ConfigurationError(`${prefix}tls-cert and ${prefix}tls-key must be set together`);
  const ca = await pemFile(files.caFile, `${prefix}tls-ca`);
  const cert = await pemFile(files.certFile, `${prefix}tls-cert`);
  const key = await pemFile(files.keyFile, `${prefix}tls-key`);
  return {
    ...(ca === null ? {} : { ca }),
    ...(cert === null ? {} : { cert }),
    ...(key === null ? {} : { key }),
    ...(files.serverName === null ? {} : { servername: files.serverName }),
    ...(files.insecure ? { rejectUnauthorized: false } : {}),
  };
}

async function pemFile(path: string | null, option: string): Promise<string | null> {
  if (path === null) return null;
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigurationError(`${option} ${path}: ${error.code ?? error.message}`);
  });
  if (!text.includes('-----BEGIN ')) throw new ConfigurationError(`${option} ${path}: not a PEM file`);
  return text;
}

/**
 * A token or key from an environment variable, for a header. Throws a `ConfigurationError` that names the option and the
 * variable, never the value.
 */
export function secretVariable(variable: string, environment: NodeJS.ProcessEnv, option: string): string {
  const secret = environment[variable];
  if (secret === undefined || secret === '')
    throw new ConfigurationError(`${option}: the environment variable ${variable} is not set`);
  return checkedSecret(secret, option);
}

/** The secret, when a header can contain it. */
export function checkedSecret(secret: string, where: string): string {
  if (!/^[\x21-\x7e]+$/.test(secret))
    throw new ConfigurationError(
      `${where}: the key contains a space, a line break or another character that is not allowed in a header`,
    );
  return secret;
}
