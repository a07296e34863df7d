import { readFile, stat } from 'node:fs/promises';
import { reasonOf } from '../../errors/store-errors.ts';
import { CliError } from '../failure.ts';

const MIN_CHARACTERS = 16;

const READABLE_BY_ALL = 0o004;

/**
 * The token of a file, without the white space around it; null without a file. `say` receives a line if every user of the
 * machine can read the file. Throws a `CliError` without the token.
 */
export async function apiToken(path: string | null, say: (line: string) => void): Promise<string | null> {
  if (path === null) return null;
  let text: string;
  try {
    text = await readFile(path, 'utf8');
    const { mode } = await stat(path);
    if ((mode & READABLE_BY_ALL) !== 0) {
      say(`--api-token-file: every user of this machine can read ${path}; chmod o-r ${path}`);
    }
  } catch (error) {
    throw new CliError(`--api-token-file ${path} cannot be read: ${reasonOf(error)}`);
  }
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= MIN_CHARACTERS) return token;
  throw new CliError(`--api-token-file ${path} must hold one token of at least ${MIN_CHARACTERS} printable characters`);
}
