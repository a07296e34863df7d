import { Reloaded } from '../../files/reloaded.ts';
import { parseRoles, type Roles } from './roles.ts';

/**
 * Reads a roles file, and reads it again when it has changed. Returns the roles in use. Throws a `ConfigurationError` if
 * it is not valid; `problem` receives one line for each later change that is not.
 */
export function rolesFile(
  path: string,
  isUser: (name: string) => boolean,
  problem: (line: string) => void,
): () => Roles {
  const roles = new Reloaded((read) => parseRoles(read(path), path, isUser), problem);
  return () => roles.current();
}
