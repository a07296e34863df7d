import { readFile } from 'node:fs/promises';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { checkedSecret, secretVariable } from '../../http-client/secret-variable.ts';

/**
 * The source of the API key; at most one of the two. The key itself is not an option, because the list of processes
 * would show it.
 */
export interface ApiKeySource {
  readonly environmentVariable: string | null;
  readonly file: string | null;
}

/** Reads the key; null when none is configured. Throws a `ConfigurationError`, which never contains the key. */
export async function readApiKey(source: ApiKeySource, environment: NodeJS.ProcessEnv): Promise<string | null> {
  const { environmentVariable: variable, file } = source;
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
