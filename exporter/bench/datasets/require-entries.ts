import { ConfigurationError } from '../configuration-error.ts';

/** The list itself; throws a `ConfigurationError` when nothing is in it. */
export function requireEntries<T>(entries: readonly T[], file: string): readonly T[] {
  if (entries.length === 0) throw new ConfigurationError(`${file}: there is nothing in it to send`);
  return entries;
}
