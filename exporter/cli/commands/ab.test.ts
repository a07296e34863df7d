import { describe, expect, test } from '@jest/globals';
import { continuingArguments, readAbArguments } from './ab.ts';
import { flag, text } from '../options/options.ts';

const OPTIONS = { a: text('URL', '', null), b: text('URL', '', null), json: flag('') };
const read = (...argv: string[]) => readAbArguments(OPTIONS, argv, {});

describe('the command line of ab', () => {
  test('its own options, those of every run, and those of one side', () => {
    const read1 = read(
      ...['--a', 'http://a', '--model', 'm', '--b=http://b', '--concurrency', '4', '--json'],
      ...['--b-model', 'n', '--a-ignore-eos', '--b-extra-inputs=top_k:1'],
    );
    expect(read1.own).toEqual({ a: 'http://a', b: 'http://b', json: true });
    expect(read1.shared).toEqual(['--model', 'm', '--concurrency', '4']);
    expect(read1.a).toEqual(['--ignore-eos']);
    expect(read1.b).toEqual(['--model', 'n', '--extra-inputs=top_k:1']);
  });

  test.each([
    [['--b-modle', 'x'], 'did you mean --b-model?'],
    [['--url', 'http://x'], '--url cannot be used with ab: use --a and --b'],
    [['--b-run-id', 'x'], '--run-id cannot be used with ab: use --id'],
    [['--num-profile-runs=3'], 'use --pairs'],
  ])('%j is refused', (argv, message) => {
    expect(() => read(...argv)).toThrow(message);
  });
});

test('a command that continues a comparison names it and its pairs once, and keeps the rest', () => {
  const argv = ['--a', 'http://a', '--pairs', '6', '--id=x', '--b-model', 'n', '--json'];
  const rest = ['--a', 'http://a', '--b-model', 'n', '--json'];
  expect(continuingArguments(argv, 'x', 9)).toEqual([...rest, '--pairs', '9', '--id', 'x']);
  expect(continuingArguments(rest, 'y', 8)).toEqual([...rest, '--pairs', '8', '--id', 'y']);
});
