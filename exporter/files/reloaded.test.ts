import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ConfigurationError } from '../errors/expected-error.ts';
import { Reloaded, type ReadText } from './reloaded.ts';

let folder: string;
let file: string;
let problems: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'llmbench-reloaded-'));
  file = join(folder, 'names');
  problems = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

function names(read: ReadText): readonly string[] {
  const given = read(file).trim().split('\n');
  if (given.includes('bad')) throw new ConfigurationError('bad is not a name');
  return given;
}
const reloaded = (make = names): Reloaded<readonly string[]> => new Reloaded(make, (line) => void problems.push(line));

test('the value follows the file', () => {
  writeFileSync(file, 'ana');
  const value = reloaded();
  expect(value.current()).toEqual(['ana']);
  writeFileSync(file, 'ana\nbo');
  expect(value.current()).toEqual(['ana', 'bo']);
  expect(problems).toEqual([]);
});

test('a change that is not valid is reported once and changes nothing', () => {
  writeFileSync(file, 'ana');
  const value = reloaded();
  writeFileSync(file, 'bad');
  for (let i = 0; i < 3; i++) expect(value.current()).toEqual(['ana']);
  expect(problems).toEqual(['bad is not a name; the previous configuration stays in use']);
  rmSync(file);
  for (let i = 0; i < 3; i++) expect(value.current()).toEqual(['ana']);
  expect(problems).toHaveLength(2);
  writeFileSync(file, 'bo');
  expect(value.current()).toEqual(['bo']);
});

test('a file that was emptied to be written again changes nothing', () => {
  writeFileSync(file, 'ana');
  const value = reloaded();
  writeFileSync(file, '');
  expect(value.current()).toEqual(['ana']);
  expect(problems).toEqual([`${file} is empty; the previous configuration stays in use`]);
});

test('a file that changes while it is read is read again', () => {
  writeFileSync(file, 'ana');
  let isMoved = false;
  const value = reloaded((read) => {
    const given = names(read);
    if (!isMoved) writeFileSync(file, 'bo and others');
    isMoved = true;
    return given;
  });
  expect(value.current()).toEqual(['bo and others']);
});

test.each([
  ['a missing file', (): void => undefined, /names cannot be read: /],
  ['a file of more than 1 MB', (): void => writeFileSync(file, 'x'.repeat(1_000_001)), /must be a regular file of at/],
])('at the start, %s is refused', (_what, prepare, reason) => {
  prepare();
  expect(() => reloaded()).toThrow(ConfigurationError);
  expect(() => reloaded()).toThrow(reason);
});
