import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { aligned } from './layout.ts';

const paint = (cell: string): string => (cell === 'ok' ? `<${cell}>` : cell);

test('the first column is aligned left, the others right; the longest cell determines the width', () => {
  expect(
    aligned([
      ['a', 'load', 'n'],
      ['long', '1', '12'],
    ]),
  ).toEqual(['a     load   n', 'long     1  12']);
});

test('only cells below the head are painted, and paint has no width', () => {
  expect(
    aligned(
      [
        ['name', 'ok'],
        ['x', 'ok'],
        ['y', 'failed'],
      ],
      paint,
    ),
  ).toEqual(['name      ok', 'x         <ok>', 'y     failed']);
});

const MODULE = new URL('./layout.ts', import.meta.url).href;
const SCRIPT = `const { paintOn } = await import(${JSON.stringify(MODULE)});
const stream = Object.assign(Object.create(process.stdout), { isTTY: process.argv[1] === 'tty' });
if (stream.isTTY) stream.getColorDepth = (await import('node:tty')).WriteStream.prototype.getColorDepth;
process.stdout.write(JSON.stringify(['NOT MET', 'met', 'another word'].map(paintOn(stream))));`;

/** The words as they are written to a terminal or a pipe, in a process with only this environment. */
function words(kind: 'tty' | 'pipe', env: Readonly<Record<string, string>>): unknown {
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT, kind], { env });
  return JSON.parse(stdout.toString());
}

const COLORED = ['\u001b[31mNOT MET\u001b[39m', '\u001b[32mmet\u001b[39m', 'another word'];
const PLAIN = ['NOT MET', 'met', 'another word'];

test.each([
  ['tty', { TERM: 'xterm-256color' }, COLORED],
  ['tty', { TERM: 'xterm-256color', NO_COLOR: '1' }, PLAIN],
  ['tty', { TERM: 'dumb' }, PLAIN],
  ['pipe', { TERM: 'xterm-256color' }, PLAIN],
  ['pipe', { FORCE_COLOR: '1' }, COLORED],
  ['pipe', { FORCE_COLOR: '0' }, PLAIN],
] as const)('to a %s with %j', (kind, env, expected) => expect(words(kind, env)).toEqual(expected));
