import { ConfigurationError } from '../../errors/configuration-error.ts';
import type { WebConfigFile } from '../../http/web-config/web-config-file.ts';
import { CliError } from '../failure.ts';

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
  const { WebConfigFile } = await import('../../http/web-config/web-config-file.ts');
  try {
    return new WebConfigFile(path, say);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new CliError(`--${name}: ${error.message}`);
    throw error;
  }
}
