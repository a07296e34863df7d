import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { outsideKeys } from './outside-keys.ts';

/** Line and first words of what is reported in the source. */
function reported(source: string): readonly string[] {
  const file = ts.createSourceFile('a.ts', source, ts.ScriptTarget.ES2024, true);
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost({}),
    getSourceFile: (name) => (name === 'a.ts' ? file : undefined),
  };
  const program = ts.createProgram(['a.ts'], { noLib: true, strict: true, types: [] }, host);
  return outsideKeys(program, ['a.ts']).map((line) => line.replace(/^a\.ts:(\d+):\d+: (.{11}).*$/s, '$1 $2'));
}

const COUNTS = 'const counts: { [key: string]: number } = {};';

test('a key that may be any string is reported where it is read, written or looked up', () => {
  const source = `${COUNTS}
    export const read = (key: string) => counts[key];
    export const write = (key: string) => (counts[key] = 1);
    export const added = (key: string | number) => (counts[key] += 1);
    export const has = (key: string) => key in counts;`;
  expect(reported(source)).toEqual(['2 this also r', '3 a key such ', '4 a key such ', '5 `in` also f']);
});

test('a property and a literal with a type are plain objects too', () => {
  const source = `class Counts { seen = {} as { [key: string]: number }; get(key: string) { return (this.seen)[key]; } }
    const kinds = { a: 1 } satisfies { [key: string]: number } as { [key: string]: number };
    export const kind = (key: string) => kinds[key];
    export { Counts };`;
  expect(reported(source)).toEqual(['1 this also r', '3 this also r']);
});

test('known keys, arrays, objects of another origin and keys that are checked first are not reported', () => {
  const source = `${COUNTS}
    declare const Object: { create(prototype: null): any; hasOwn(of: object, key: string): boolean };
    export const known = (key: 'a' | 'b') => counts[key];
    export const index = (list: readonly string[], at: number) => list[at];
    const without: { [key: string]: number } = Object.create(null);
    export const own = (key: string) => without[key];
    export const given = (of: { [key: string]: number }, key: string) => of[key];
    export const asked = (key: string) => (Object.hasOwn(counts, key) ? counts[key] : 0);`;
  expect(reported(source)).toEqual([]);
});
