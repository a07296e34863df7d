import { ConfigurationError } from '../../errors/configuration-error.ts';

/** Imports an optional package. Throws a `ConfigurationError` with the command that installs it. */
export async function optionalPackage<T>(load: () => Promise<T>, name: string, wantedBy: string): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new ConfigurationError(`${wantedBy} requires the package ${name}: npm install ${name}`);
  }
}

/** Node's code, or jest's equivalent. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && error.message.includes(name);
}
