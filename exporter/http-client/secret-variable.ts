import { ConfigurationError } from '../errors/expected-error.ts';

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
