import { describe, expect, test } from '@jest/globals';
import { orderOfPair, readAbArguments } from './ab-options.ts';
import { flag, text } from './options.ts';

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

test('the order of the pairs is ABBA BAAB: both sides are first as often, and no trend favors one', () => {
  const order = [0, 1, 2, 3].map((pair) => orderOfPair(pair).join('').toUpperCase()).join(' ');
  expect(order).toBe('AB BA BA AB');
  const positions = { a: 0, b: 0 };
  for (let pair = 0; pair < 8; pair++)
    for (const [i, side] of orderOfPair(pair).entries()) positions[side] += 2 * pair + i;
  expect(positions.a).toBe(positions.b);
});
