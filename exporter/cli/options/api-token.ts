import { readFile } from 'node:fs/promises';
import { reasonOf } from '../../errors/store-errors.ts';
import { CliError } from '../failure.ts';

const MIN_CHARACTERS = 16;

/** The token of a file, without the white space around it; null without a file. Throws a `CliError` without the token. */
export async function apiToken(path: string | null): Promise<string | null> {
  if (path === null) return null;
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError(`--api-token-file ${path} cannot be read: ${reasonOf(error)}`);
  }
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= MIN_CHARACTERS) return token;
  throw new CliError(`--api-token-file ${path} must hold one token of at least ${MIN_CHARACTERS} printable characters`);
}
