import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { RUN_OPTIONS } from '../options/run-options.ts';
import { acceptedAs, answersTo, answerTo, PEERS, type OptionAnswer } from './peers.ts';

/** The names of the flags in the programs' sources, of the versions that the guide names. */
const PUBLISHED = JSON.parse(
  readFileSync(new URL('./fixtures/published-flags.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly string[]>>;

const isOwn = (flag: string): boolean => Object.hasOwn(RUN_OPTIONS, flag.replace(/^--/, ''));
const each = PEERS.flatMap(({ name, options }) =>
  options.flatMap(([flags, answer]) => flags.split(' ').map((flag) => ({ peer: name, flag, answer }))),
);
const textOf = (answer: OptionAnswer): string => (answer.kind === 'accepted' ? (answer.note ?? '') : answer.text);

test.each(Object.entries(PUBLISHED))(
  'every option of %s is answered, once, and none that it does not have',
  (peer, flags) => {
    const answered = each.filter((one) => one.peer === peer).map(({ flag }) => flag);
    expect(answered.toSorted()).toEqual(flags.toSorted());
  },
);

test('what is accepted is an option of `run`, and means the same in every tool that has the flag', () => {
  for (const { flag, answer } of each) {
    if (answer.kind !== 'accepted') continue;
    expect(RUN_OPTIONS).toHaveProperty([answer.option]);
    if (isOwn(flag)) expect(flag).toBe(`--${answer.option}`);
    const others = answersTo(flag).map((one) => one.answer);
    expect(others.flatMap((one) => (one.kind === 'accepted' ? one.option : []))).toEqual(
      others.flatMap((one) => (one.kind === 'accepted' ? answer.option : [])),
    );
  }
});

test('an option of ours is never answered as if it were unknown', () => {
  const wrong = each.filter(
    ({ flag, answer }) => isOwn(flag) && answer.kind !== 'accepted' && answer.kind !== 'differs',
  );
  expect(wrong.map(({ peer, flag }) => `${peer} ${flag}`)).toEqual([]);
});

test('the options that answers name exist', () => {
  const named = each.flatMap(({ answer }) =>
    [...textOf(answer).matchAll(/`[^`]*`/g)].flatMap(([code]) => code.match(/--[a-z][a-z-]*/g) ?? []),
  );
  const others = new Set(['--version']);
  expect([...new Set(named)].filter((flag) => !isOwn(flag) && !others.has(flag) && acceptedAs(flag) === null)).toEqual(
    [],
  );
});

describe('answers', () => {
  test.each([
    ['--burstiness', '0.5', 'use --arrival-pattern gamma --arrival-smoothness 0.5: the same number'],
    ['--temperature', '0', 'use --extra-inputs temperature:0'],
    ['--temperature', null, 'use --extra-inputs temperature:VALUE'],
    ['--save-result', null, 'there is no counterpart: every run is stored in --runs-dir, with one row per request'],
    ['--nonsense', 'x', null],
    // An option of ours.
    ['--max-seconds', '3', null],
  ])('%s %s', (flag, value, answer) => {
    expect(answerTo(flag, value, [flag])).toBe(answer);
  });

  test('a flag that tools use differently is answered for each of them', () => {
    const answer = answerTo('--profile', null, ['--profile']);
    expect(answer).toMatch(/^as in vLLM and SGLang: there is no counterpart: .*; as in GuideLLM: use --concurrency N/);
  });

  test('the other flags tell which tool is meant', () => {
    expect(answerTo('--profile', null, ['--profile', '--target', '--rate'])).toMatch(/^use --concurrency N/);
    expect(answerTo('--profile', null, ['--profile', '--num-warmups'])).toMatch(/^there is no counterpart/);
  });

  test('an API key is never repeated', () => {
    expect(answerTo('--api-key', 'sk-secret', [])).not.toContain('secret');
  });
});

test.each([
  ['--base-url', 'url'],
  ['--num-prompts', 'request-count'],
  ['--max-concurrency', 'concurrency'],
  ['-m', 'model'],
  ['-u', 'url'],
  ['-H', 'header'],
  ['--insecure', 'tls-insecure'],
  ['--burstiness', null],
  ['--nonsense', null],
])('%s is accepted as %s', (flag, option) => {
  expect(acceptedAs(flag)).toBe(option);
});
