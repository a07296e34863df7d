import { expect, test } from '@jest/globals';
import { CliError } from '../failure.ts';
import { RUN_OPTIONS } from '../options/run-options.ts';
import { ownArguments, unseenDefaults } from './peers.ts';

const own = (given: string): string => ownArguments(given.split(' '), RUN_OPTIONS).join(' ');

test.each([
  ['--base-url http://h:8000 -m llama', '--url http://h:8000 --model llama'],
  ['--num-prompts=5 --insecure --json', '--request-count=5 --tls-insecure --json'],
  ['-ux -H A:1 -H B:2', '--url=x --header A:1 --header B:2'],
  // Values stay as they are, and what no tool accepts is reported later.
  ['--model -m --scenario --insecure --nonsense', '--model -m --scenario --insecure --nonsense'],
  ['-- --num-prompts 5', '-- --num-prompts 5'],
])('%s', (given, expected) => {
  expect(own(given)).toBe(expected);
});

test('one option under two names is refused, unless it takes several values', () => {
  expect(() => own('--num-prompts 5 --request-count 6')).toThrow(
    new CliError('--num-prompts and --request-count are the same option, --request-count: give one of them'),
  );
  expect(own('--request-count 5 --request-count 6')).toBe('--request-count 5 --request-count 6');
  expect(own('--base-url a --url b')).toBe('--url a --url b');
});

test.each([
  ['--num-prompts 5 --random-input-len 3', 'would also mean --endpoint-type completions --ignore-eos,'],
  ['--num-prompts 5 --endpoint-type chat', 'would also mean --ignore-eos,'],
  ['--num-prompts 5 --endpoint-type chat --ignore-eos', null],
  ['--request-count 5 --concurrency 3', null],
  ['-m model -u url', null],
  ['-c 3 -n 5', null],
])('%s: what the tool with these options would also do is stated', (given, text) => {
  const stated = unseenDefaults(given.split(' '), RUN_OPTIONS);
  if (text === null) expect(stated).toBeNull();
  else expect(stated).toContain(`\`vllm bench serve\` ${text}`);
});
