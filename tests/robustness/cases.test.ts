import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { testTitles } from './test-titles.ts';

interface Case {
  readonly case: string;
  readonly verdict: string;
  /** Why it is weak or not applicable, or a remark. */
  readonly reason?: string;
  /** File from the root of the repository: titles of tests, groups or rows of `each`. */
  readonly tests?: Readonly<Record<string, readonly string[]>>;
}

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, ROOT)), 'utf8');
const casesOf = (path: string): [id: string, given: Case][] =>
  Object.entries(parse(read(path)) as Readonly<Record<string, Case>>);

describe.each([
  ['attacks.yaml', 'S'],
  ['faults.yaml', 'R'],
])('%s', (file, letter) => {
  const cases = casesOf(`tests/robustness/${file}`);

  test('numbers its cases without a gap', () => {
    const expected = cases.map((_, i) => `${letter}-${String(i + 1).padStart(3, '0')}`);
    expect(cases.map(([id]) => id)).toEqual(expected);
  });

  test('what is held names a test, the rest gives a reason', () => {
    const wrong = cases.filter(([, { verdict, reason, tests }]) => {
      if (verdict === 'held') return tests === undefined;
      if (verdict === 'weak' || verdict === 'not applicable') return reason === undefined;
      return verdict !== 'not tested';
    });
    expect(wrong).toEqual([]);
  });

  test('every test that is named exists', () => {
    const missing = cases.flatMap(([id, { tests = {} }]) =>
      Object.entries(tests).flatMap(([path, titles]) => {
        const existing = existsSync(new URL(path, ROOT)) ? testTitles(read(path)) : new Set<string>();
        return titles.filter((title) => !existing.has(title)).map((title) => `${id} ${path}: ${title}`);
      }),
    );
    expect(missing).toEqual([]);
  });
});
