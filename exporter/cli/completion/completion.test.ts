import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { COMMANDS } from '../commands.ts';
import {
  bashCompletion,
  declaredCommands,
  fishCompletion,
  zshCompletion,
  type DeclaredCommand,
} from '../commands/completion.ts';

let commands: readonly DeclaredCommand[] = [];
let folder = '';
beforeAll(async () => {
  commands = await declaredCommands(COMMANDS);
  folder = mkdtempSync(join(tmpdir(), 'llmbench-completion-'));
  writeFileSync(join(folder, 'llmbench'), bashCompletion(commands));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash offers for the last word of a line. */
function offered(...words: readonly string[]): readonly string[] {
  const script = 'source "$0"; COMP_WORDS=(llmbench "$@"); COMP_CWORD=$#; _llmbench; printf "%s\\n" "${COMPREPLY[@]}"';
  const output = execFileSync('bash', ['--norc', '-c', script, join(folder, 'llmbench'), ...words], {
    encoding: 'utf8',
  });
  return output.split('\n').filter((word) => word !== '');
}

describe('bash', () => {
  test('commands, and those after runs', () => {
    expect(offered('')).toEqual([...COMMANDS.map(({ name }) => name), 'help', '--help', '--version']);
    expect(offered('com')).toEqual(['compare', 'completion']);
    expect(offered('runs', 'ex')).toEqual(['export']);
  });

  test('the options of the command', () => {
    expect(offered('run', '--conc')).toEqual(['--concurrency', '--concurrency-ramp-duration']);
    expect(offered('runs', 'show', '--')).toEqual(['--runs-dir', '--show-servers', '--json', '--help']);
    expect(offered('ab', '--pair')).toEqual(['--pairs']);
    expect(offered('ab', '--concurrency-r')).toEqual(['--concurrency-ramp-duration']);
    expect(offered('serve', '--concurrency')).toEqual([]);
  });

  test('the values of an option; nothing of ours where a file or another value is expected', () => {
    expect(offered('run', '--arrival-pattern', '')).toEqual(['poisson', 'constant', 'gamma']);
    expect(offered('run', '--json', '--endpoint-type', 'ch')).toEqual(['chat']);
    expect(offered('run', '--input-file', '--')).toEqual([]);
    expect(offered('import', '')).toEqual([]);
  });
});

test.each([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
])('%s has every command and every option', (_, completion) => {
  const script = completion(commands);
  for (const { name, options } of commands) {
    expect(script).toContain(name.split(' ').at(-1));
    for (const option of Object.keys(options)) expect(script).toMatch(new RegExp(`(--|-l )${option}\\b`));
  }
});

test('texts are quoted: no shell runs what a help text contains', () => {
  const options = { x: { help: "it's `false` $HOME: a", value: "a'b|c", parse: () => '', fallback: null } };
  const one = [{ name: 'run', summary: "it's", options }];
  expect(zshCompletion(one)).toContain(String.raw`'--x:it'\''s ${'`false`'} $HOME: a'`);
  expect(fishCompletion(one)).toContain(String.raw`-d 'it'\''s ${'`false`'} $HOME: a'`);
  for (const completion of [bashCompletion, zshCompletion])
    execFileSync('bash', ['-n'], { input: completion(one), stdio: ['pipe', 'ignore', 'pipe'] });
});
