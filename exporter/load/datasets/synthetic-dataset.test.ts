import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Message } from '../endpoints/endpoint.ts';
import { loadTokenizer } from '../tokenizers/tokenizer.ts';
import { type Dataset, planSha256 } from './dataset.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import { syntheticDataset } from './synthetic-dataset.ts';
import { WORDS } from './words.ts';

const options = { inputTokens: 100, outputTokens: 32, seed: 7 };

describe('single requests', () => {
  test('the same seed gives the same requests, in any order', () => {
    const there = syntheticDataset(options);
    const again = syntheticDataset(options);
    const last = again.request('measure', 9);
    expect(again.request('measure', 3)).toEqual(there.request('measure', 3));
    expect(there.request('measure', 9)).toEqual(last);
  });

  test('has the requested length', () => {
    const { prompt, max_tokens } = syntheticDataset(options).request('measure', 0);
    expect(prompt.split(' ')).toHaveLength(100);
    expect(max_tokens).toBe(32);
  });

  test('no beginning recurs between positions, phases and seeds', () => {
    const beginnings = new Set<string>();
    for (const seed of [1, 2]) {
      for (const phase of ['probe', 'warmup', 'measure'] as const) {
        for (let i = 0; i < 1000; i++) {
          beginnings.add(syntheticDataset({ ...options, inputTokens: 5, seed }).request(phase, i).prompt);
        }
      }
    }
    expect(beginnings.size).toBe(6000);
  });

  test('documents of the requested length, with a query, and another text for each', () => {
    const dataset = syntheticDataset({ ...options, inputTokens: 5, documents: { count: 3, queryTokens: 2 } });
    const { prompt, documents = [], max_tokens } = dataset.request('measure', 0);
    expect(prompt.split(' ')).toHaveLength(2);
    expect(documents.map((text) => text.trim().split(' ').length)).toEqual([5, 5, 5]);
    expect(new Set(documents).size).toBe(3);
    expect(max_tokens).toBe(0);
    expect(dataset.planSha256).not.toBe(syntheticDataset({ ...options, inputTokens: 5 }).planSha256);
  });

  test('the plan hash distinguishes plans', () => {
    const hash = (changes: object): string => syntheticDataset({ ...options, ...changes }).planSha256;
    expect(new Set([hash({}), hash({ seed: 8 }), hash({ inputTokens: 99 }), hash({ outputTokens: 31 })]).size).toBe(4);
    expect(hash({})).toBe(hash({}));
  });
});

const wordsOf = (text: string): number => text.split(' ').length;
const many = (dataset: Dataset, n = 400): ReturnType<Dataset['request']>[] =>
  Array.from({ length: n }, (_, i) => dataset.request('measure', i));
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

describe('lengths', () => {
  test('a normal distribution, never below 1', () => {
    const requests = many(syntheticDataset({ ...options, inputStddev: 20, outputStddev: 30 }), 2000);
    const inputs = requests.map(({ prompt }) => wordsOf(prompt));
    const outputs = requests.map(({ max_tokens }) => max_tokens);
    // Standard error of the mean: 20/√2000 = 0.45; five of them.
    expect(Math.abs(mean(inputs) - 100)).toBeLessThan(2.3);
    const spread = Math.sqrt(mean(inputs.map((n) => (n - 100) ** 2)));
    expect(spread).toBeGreaterThan(18);
    expect(spread).toBeLessThan(22);
    expect(Math.min(...outputs)).toBe(1);
    expect(outputs.every(Number.isInteger)).toBe(true);
  });

  test('pairs by their share', () => {
    const pair = (input: number, output: number, share: number): object => ({
      input: { mean: input, stddev: 0 },
      output: { mean: output, stddev: 0 },
      share,
    });
    const distribution = [pair(10, 1, 0.7), pair(20, 2, 0.3)] as never;
    const requests = many(syntheticDataset({ ...options, distribution }), 2000);
    const kinds = new Set(requests.map(({ prompt, max_tokens }) => `${wordsOf(prompt)}/${max_tokens}`));
    expect(kinds).toEqual(new Set(['10/1', '20/2']));
    const share = mean(requests.map(({ max_tokens }) => (max_tokens === 1 ? 1 : 0)));
    // √(0.7·0.3/2000) = 0.0102; five of them.
    expect(Math.abs(share - 0.7)).toBeLessThan(0.051);
  });

  test('stay in another repeat, while the texts change', () => {
    const first = many(syntheticDataset({ ...options, inputStddev: 20 }), 20);
    const second = many(syntheticDataset({ ...options, inputStddev: 20, repeat: 1 }), 20);
    expect(second.map(({ prompt }) => wordsOf(prompt))).toEqual(first.map(({ prompt }) => wordsOf(prompt)));
    expect(second.some(({ prompt }, i) => prompt === first[i]?.prompt)).toBe(false);
    expect(syntheticDataset({ ...options, repeat: 1 }).planSha256).toBe(syntheticDataset(options).planSha256);
  });
});

test('requests recur after the number of entries, and not in the warm-up', () => {
  const dataset = syntheticDataset({ ...options, entries: 3 });
  const prompts = many(dataset, 7).map(({ prompt }) => prompt);
  expect(new Set(prompts).size).toBe(3);
  expect(prompts[3]).toBe(prompts[0]);
  expect(prompts).not.toContain(dataset.request('warmup', 0).prompt);
});

test('the longest answer is known unless lengths are spread', () => {
  const spread = { input: { mean: 5, stddev: 0 }, output: { mean: 300, stddev: 0 }, share: 0.5 };
  expect(syntheticDataset(options).longestOutputTokens).toBe(32);
  expect(syntheticDataset({ ...options, outputStddev: 1 }).longestOutputTokens).toBeNull();
  const distribution = [spread, { ...spread, output: { mean: 20, stddev: 0 } }];
  expect(syntheticDataset({ ...options, distribution }).longestOutputTokens).toBe(300);
});

describe('what requests share', () => {
  test('one system prompt for all, also in the warm-up', () => {
    const dataset = syntheticDataset({ ...options, systemPromptTokens: 30 });
    const systems = [dataset.request('warmup', 0), ...many(dataset, 5)].map(({ history }) => history?.[0]);
    expect(systems[0]).toMatchObject({ role: 'system' });
    expect(wordsOf(systems[0]?.content ?? '')).toBe(30);
    expect(new Set(systems.map((system) => system?.content)).size).toBe(1);
  });

  test('a pool of prefixes, each with its share of the requests', () => {
    const prompts = many(
      syntheticDataset({ ...options, prefixes: { levels: [{ count: 4, tokens: 20 }], zipfAlpha: 0 } }),
    ).map(({ prompt }) => prompt);
    const beginnings = prompts.map((prompt) => prompt.split(' ').slice(0, 20).join(' '));
    expect(new Set(beginnings).size).toBe(4);
    expect(new Set(prompts).size).toBe(prompts.length);
    expect(prompts.every((prompt) => wordsOf(prompt) === 120)).toBe(true);
    for (const one of new Set(beginnings))
      expect(beginnings.filter((beginning) => beginning === one).length).toBeGreaterThan(60);
  });
});

describe('conversations', () => {
  const shape = {
    turns: { mean: 4, stddev: 1.5 },
    delay: { mean: 2, stddev: 0.5, ratio: 0.5 },
  };
  const dataset = syntheticDataset({
    ...options,
    inputTokens: 10,
    systemPromptTokens: 5,
    userContextTokens: 15,
    conversations: shape,
    entries: 50,
  });
  const conversation = (position: number) => dataset.conversation?.('measure', position);

  test('turns and delays are drawn, and recur after the given number', () => {
    const all = Array.from({ length: 50 }, (_, i) => conversation(i));
    const turns = all.map((one) => one?.requests ?? 0);
    expect(Math.min(...turns)).toBeGreaterThanOrEqual(1);
    expect(new Set(turns).size).toBeGreaterThan(3);
    expect(Math.abs(mean(turns) - 4)).toBeLessThan(1.1);
    expect(all.every((one) => one?.place(0).thinkSeconds === 0)).toBe(true);
    const delays = all.flatMap((one) => ((one?.requests ?? 0) > 1 ? [one?.place(1).thinkSeconds ?? NaN] : []));
    expect(Math.abs(mean(delays) - 1)).toBeLessThan(0.2);
    expect(dataset.size).toBe(50);
    expect(conversation(53)?.request(0, []).prompt).toBe(conversation(3)?.request(0, []).prompt);
    expect(conversation(3)?.requests).toBe(all[3]?.requests);
  });

  test('each turn contains the earlier ones with their answers, and the context stays at the beginning', () => {
    const one = conversation(7);
    const first = one?.request(0, []);
    const third = one?.request(2, ['answer 1', 'answer 2']);
    expect(wordsOf(first?.prompt ?? '')).toBe(25);
    expect(third?.history?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user', 'assistant']);
    const [, user, response, second, response2] = third!.history as readonly Message[];
    expect(user?.content).toBe(first?.prompt);
    expect([response?.content, response2?.content]).toEqual(['answer 1', 'answer 2']);
    expect(wordsOf(second?.content ?? '')).toBe(10);
    expect(wordsOf(third?.prompt ?? '')).toBe(10);
    // Requested again, also out of order, a turn is the same.
    expect(conversation(7)?.request(2, ['answer 1', 'answer 2'])).toEqual(third);
  });

  test('no two have the same beginning', () => {
    const beginnings = new Set(
      Array.from({ length: 50 }, (_, i) => conversation(i)?.request(0, []).prompt.slice(0, 40)),
    );
    expect(beginnings.size).toBe(50);
  });
});

describe('with a tokenizer lengths are exact', () => {
  test.each([['bpe'], ['unigram'], ['o200k_base']])('%s', async (name) => {
    const folder = join(import.meta.dirname, '..', 'tokenizers', 'fixtures');
    const tokenizer = await loadTokenizer(name.endsWith('base') ? name : join(folder, name), 'main', {});
    for (const inputTokens of [1, 2, 3, 17, 100, 555]) {
      const dataset = syntheticDataset({
        ...options,
        inputTokens,
        tokenizer,
        prefixes: { levels: [{ count: 2, tokens: 33 }], zipfAlpha: 0 },
        systemPromptTokens: 21,
      });
      for (const { prompt, history, input_tokens } of many(dataset, 90)) {
        expect(tokenizer.count(prompt)).toBe(33 + inputTokens);
        expect(tokenizer.count(history?.[0]?.content ?? '')).toBe(21);
        expect(input_tokens).toBe(21 + 33 + inputTokens);
      }
      const alone = syntheticDataset({ ...options, inputTokens, tokenizer });
      for (const { prompt, input_tokens } of many(alone, 90)) {
        expect(tokenizer.count(prompt)).toBe(inputTokens);
        expect(input_tokens).toBe(inputTokens);
      }
    }
  });

  test('the answers in a conversation are counted', async () => {
    const tokenizer = await loadTokenizer('o200k_base', 'main', {});
    const conversations = { turns: { mean: 2, stddev: 0 }, delay: { mean: 0, stddev: 0, ratio: 1 } };
    const dataset = syntheticDataset({ ...options, inputTokens: 10, tokenizer, conversations });
    const second = dataset.conversation?.('measure', 0).request(1, ['tiktoken is great!']);
    expect(second?.input_tokens).toBe(10 + 6 + 10);
  });

  test('the tokenizer is part of the plan', async () => {
    const tokenizer = await loadTokenizer('o200k_base', 'main', {});
    expect(syntheticDataset({ ...options, tokenizer }).planSha256).not.toBe(syntheticDataset(options).planSha256);
  });
});

test('planSha256 is SHA-256 of the JSON with sorted keys', () => {
  const expected = createHash('sha256').update('{"a":1,"b":"x"}').digest('hex');
  expect(planSha256({ b: 'x', a: 1 })).toBe(expected);
});

test('the word list has no duplicates and only lower-case words', () => {
  expect(new Set(WORDS).size).toBe(WORDS.length);
  expect(WORDS.every((word) => /^[a-z]+$/.test(word))).toBe(true);
  expect(WORDS.length).toBeGreaterThan(700);
});

test('seeded numbers are spread evenly, also over neighboring keys', () => {
  const tenths = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) {
    const tenth = Math.floor(seededRandom(`1/measure/${i}`)() * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  // Chi-square with 9 degrees of freedom: beyond 33.7 once in 10,000.
  const chiSquare = tenths.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
  expect(chiSquare).toBeLessThan(33.7);
});
