import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Paths that look as if they left the repository and do not, each with its reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'deploy/Dockerfile: /home/node': 'the home folder of the user in the image',
  'exporter/cli/version.ts: ../../../package.json': 'compiled, the file lies one folder deeper, in dist/',
};

/** This file, which names what it looks for. */
const SELF = 'tests/stand-alone.test.ts';

/** Folders of one person or one machine. */
const MACHINE_PATH = /(?<![\w.}*-])\/(?:home|root|Users|work|workspace)\/[\w.-]+/g;
const RELATIVE_PATH = /(?:\.\.\/)+[\w.@-]*/g;

/** The paths in a text that lead out of the repository, when the text is that of `file`. */
function pathsOutside(file: string, text: string): string[] {
  const relative = [...text.matchAll(RELATIVE_PATH)]
    .map(([path]) => path)
    .filter((path) => posix.join(posix.dirname(file), path).startsWith('..'));
  const absolute = [...text.matchAll(MACHINE_PATH)].map(([path]) => path);
  return [...relative, ...absolute].map((path) => `${file}: ${path}`);
}

/** The text of a tracked file, where its link leads if it is one; empty for binary files. */
function textOf(file: string): string {
  const path = join(ROOT, file);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) return readlinkSync(path);
  const text = found?.isFile() ? readFileSync(path, 'utf8') : '';
  return text.includes('\0') ? '' : text;
}

describe('a path that leads out of the repository is found', () => {
  test.each([
    ['core/a.ts', `new URL('../../shared/x', import.meta.url)`, [`core/a.ts: ../../shared`]],
    ['core/a.ts', `from '../catalog/load.ts'`, []],
    ['README.md', `see ../notes`, [`README.md: ../notes`]],
    ['a/b/c.ts', `'../../package.json'`, []],
    ['docs/a.md', `cd /home/ann/llmbench`, [`docs/a.md: /home/ann`]],
    ['docs/a.md', `read /Users/ann/tools`, [`docs/a.md: /Users/ann`]],
    ['docs/a.md', 'https://example.org/home/page', []],
  ])('%s: %s', (file, text, expected) => {
    expect(pathsOutside(file, text)).toEqual(expected);
  });
});

test('no tracked file mentions a path outside the repository', () => {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean);
  expect(files).toContain(SELF);
  const found = files.filter((file) => file !== SELF).flatMap((file) => pathsOutside(file, textOf(file)));
  expect([...new Set(found)].sort()).toEqual(Object.keys(ALLOWED).sort());
});
