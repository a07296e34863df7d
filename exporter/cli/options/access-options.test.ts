import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CliError } from '../failure.ts';
import { apiToken } from './access-options.ts';

let folder: string;
beforeEach(async () => {
  lines = [];
  folder = await mkdtemp(join(tmpdir(), 'llmbench-token-'));
});
afterEach(() => rm(folder, { recursive: true }));

const say = (line: string): void => void lines.push(line);
let lines: string[] = [];

async function written(text: string): Promise<string> {
  const path = join(folder, 'token.txt');
  await writeFile(path, text);
  return path;
}

test('the token of the file, without the line end', async () => {
  expect(await apiToken(await written('0123456789abcdef\n'), say)).toBe('0123456789abcdef');
  expect(await apiToken(null, say)).toBeNull();
});

test.each(['', 'short', 'two words of length', '0123456789abcdef\nanother-line-there', 'ümlaut-0123456789'])(
  'a file with %p is refused in one line that does not repeat it',
  async (text) => {
    const refusal = await apiToken(await written(text), say).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(CliError);
    expect((refusal as Error).message).toMatch(
      /^--api-token-file .* must hold one token of at least 16 printable characters$/,
    );
  },
);

test('a file that is not there is named', async () => {
  await expect(apiToken(join(folder, 'none'), say)).rejects.toThrow('it does not exist (ENOENT)');
});

test.each([
  [0o600, false],
  [0o640, false],
  [0o644, true],
])('a file of mode %o is reported if every user can read it', async (mode, expected) => {
  const path = await written('0123456789abcdef');
  await chmod(path, mode);
  await apiToken(path, say);
  expect(lines).toEqual(
    expected ? [`--api-token-file: every user of this machine can read ${path}; chmod o-r ${path}`] : [],
  );
});
