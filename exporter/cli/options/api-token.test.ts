import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { apiToken } from './api-token.ts';
import { CliError } from '../failure.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-token-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function written(text: string): Promise<string> {
  const path = join(folder, 'token.txt');
  await writeFile(path, text);
  return path;
}

test('the token of the file, without the line end', async () => {
  expect(await apiToken(await written('0123456789abcdef\n'))).toBe('0123456789abcdef');
  expect(await apiToken(null)).toBeNull();
});

test.each(['', 'short', 'two words of length', '0123456789abcdef\nanother-line-there', 'ümlaut-0123456789'])(
  'a file with %p is refused in one line that does not repeat it',
  async (text) => {
    const refusal = await apiToken(await written(text)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(CliError);
    expect((refusal as Error).message).toMatch(
      /^--api-token-file .* must hold one token of at least 16 printable characters$/,
    );
  },
);

test('a file that is not there is named', async () => {
  await expect(apiToken(join(folder, 'none'))).rejects.toThrow('it does not exist (ENOENT)');
});
