import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import { possibleReuse } from './prefix-reuse.ts';
import type { History } from './planned-session.ts';
import { sessions } from './sessions.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'session-reuse-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A token per word. */
const WORDS = { count: (text: string) => (text === '' ? 0 : text.split(' ').length) } as Tokenizer;
const words = (count: number, name: string): string => Array.from({ length: count }, (_, i) => `${name}${i}`).join(' ');
const user = (count: number, name: string) => [{ role: 'user', content: words(count, name) }];

async function possible(
  file: readonly object[],
  sent: number,
  { history = 'recorded', tokenizer = WORDS }: { history?: History; tokenizer?: Tokenizer | null } = {},
) {
  const path = join(folder, 'sessions.jsonl');
  await writeFile(path, file.map((session) => JSON.stringify(session)).join('\n'));
  const dataset = await sessions('sessions', {
    ...{ file: path, outputTokens: 64, seed: 1, strategy: 'sequential', tokenizer },
    ...{ delayRatio: 1, delayCapSeconds: null, history, blockTokens: null },
  });
  return possibleReuse(dataset, { warmup: 0, measure: sent }, 1);
}

/** `plan`, a subagent of its own system prompt beside it, and `end`, which continues `plan`. */
const session = (name: string) => ({
  requests: [
    {
      ...{ id: 'plan', agent: 'main', output_length: 20, answer: words(15, `${name}answer`) },
      messages: [{ role: 'system', content: words(100, 'system') }, ...user(30, `${name}task`)],
    },
    {
      ...{ id: 'look', agent: 'explorer', after: ['plan'] },
      messages: [{ role: 'system', content: words(50, 'explorer') }, ...user(10, `${name}look`)],
    },
    { id: 'end', agent: 'main', continues: 'plan', after: ['plan', 'look'], messages: user(40, `${name}end`) },
  ],
});

test('recorded answers, by hand: `end` has the prompt of `plan`, whose answer was never computed', async () => {
  // Prompts of 130, 60 and 130 + 15 + 40; the probe had the first of them.
  expect(await possible([session('a')], 3)).toEqual({ cached: 129 + 0 + 130, prompt: 130 + 60 + 185 });
  // A second session has the system prompts of both agents.
  expect(await possible([session('a'), session('b')], 6)).toEqual({
    cached: 129 + 130 + 100 + 50 + 130,
    prompt: 2 * 375,
  });
});

test('live answers: the server has the tokens that it generated', async () => {
  // `end` has 130 + 20 generated + 40.
  expect(await possible([session('a')], 3, { history: 'live' })).toEqual({ cached: 129 + 150, prompt: 130 + 60 + 190 });
});

test('a session that recurs has its prompts again, but not the answers of before', async () => {
  expect(await possible([session('a')], 6)).toEqual({ cached: 259 + 129 + 59 + 184, prompt: 2 * 375 });
  expect(await possible([session('a')], 6, { history: 'live' })).toEqual({
    cached: 279 + 129 + 59 + 150,
    prompt: 2 * 380,
  });
});

test('without a tokenizer the lengths of texts are not known, those of words are', async () => {
  expect(await possible([session('a')], 3, { tokenizer: null })).toBeNull();
  const requests = [
    { id: 'first', input_length: 1000, hash_ids: [7], output_length: 20 },
    { id: 'next', continues: 'first', input_length: 600, hash_ids: [], output_length: 20 },
  ];
  // A block of 512 tokens, 488 words of the request's own, the answer, 600 more.
  expect(await possible([{ requests }], 2, { tokenizer: null })).toEqual({ cached: 999 + 1020, prompt: 1000 + 1620 });
});
