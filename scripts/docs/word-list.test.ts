import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { rejectedWords } from './word-list.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TEXTS = ['*.md', '*.ts', '*.tsx', '*.mjs', '*.json', '*.yaml', '*.yml', '*.py', '*.c', '*.go', '*.sh'];
/** Texts of others, the words that synthetic prompts are made of, and the list itself. */
const FOREIGN =
  /(^|\/)(fixtures|\.config)\/|package-lock\.json$|^scripts\/docs\/word-list|^exporter\/load\/datasets\/words\.ts$/;
test('texts contain no rejected words', () => {
  const files = execFileSync('git', ['ls-files', '--', ...TEXTS], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const checked = files.filter((path) => path !== '' && !FOREIGN.test(path) && existsSync(`${ROOT}/${path}`));
  const uses = checked.flatMap((path) =>
    rejectedWords(readFileSync(`${ROOT}/${path}`, 'utf8')).map(
      ({ line, found, instead }) => `${path}:${line}: "${found}": write ${instead}`,
    ),
  );
  expect(uses).toEqual([]);
});

test('words are found in any case, with their line, and not inside other words', () => {
  expect(
    rejectedWords('The server reports it.\nWhoever asks is TOLD.').map(({ line, found }) => [line, found]),
  ).toEqual([
    [2, 'TOLD'],
    [2, 'Whoever'],
  ]);
  expect(rejectedWords('tolderance, storehouse, recommended, colorful')).toEqual([]);
});
