import { readFile } from 'node:fs/promises';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { checkedSecret, secretVariable } from '../../http-client/tls-files.ts';

/**
 * The source of the API key; at most one. The key itself is not an option of a command, because the list of processes
 * would show it.
 */
export interface ApiKeySource {
  readonly environmentVariable: string | null;
  readonly file: string | null;
  /** From a program that uses the library. */
  readonly key?: string;
}

/** Reads the key; null when none is configured. Throws a `ConfigurationError`, which never contains the key. */
export async function readApiKey(source: ApiKeySource, environment: NodeJS.ProcessEnv): Promise<string | null> {
  const { environmentVariable: variable, file, key: given } = source;
  if (given !== undefined) {
    if (variable !== null || file !== null)
      throw new ConfigurationError('apiKey cannot be used together with api-key-env or api-key-file');
    return checkedSecret(given, 'apiKey');
  }
  if (variable !== null && file !== null)
    throw new ConfigurationError('--api-key-env and --api-key-file cannot be used together');
  if (variable !== null) return secretVariable(variable, environment, '--api-key-env');
  if (file === null) return null;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigurationError(`--api-key-file ${file}: ${error.code ?? error.message}`);
  });
  const key = text.trim();
  if (key === '') throw new ConfigurationError(`--api-key-file ${file}: the file is empty`);
  return checkedSecret(key, `--api-key-file ${file}`);
}
