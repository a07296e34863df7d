import { describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { planSha256 } from './plan.ts';
import { seededRandom } from './seeded-random.ts';
import { syntheticDataset } from './synthetic-dataset.ts';
import { WORDS } from './words.ts';

const options = { inputTokens: 100, outputTokens: 32, seed: 7 };

describe('syntheticDataset', () => {
  test('the same seed gives the same requests, in any order', () => {
    const there = syntheticDataset(options);
    const again = syntheticDataset(options);
    const last = again.request('measure', 9);
    expect(again.request('measure', 3)).toEqual(there.request('measure', 3));
    expect(there.request('measure', 9)).toEqual(last);
  });

  test('has the length asked for', () => {
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

  test('the plan hash tells plans apart', () => {
    const hash = (changes: object): string => syntheticDataset({ ...options, ...changes }).planSha256;
    expect(new Set([hash({}), hash({ seed: 8 }), hash({ inputTokens: 99 }), hash({ outputTokens: 31 })]).size).toBe(4);
    expect(hash({})).toBe(hash({}));
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

test('seeded numbers are spread evenly, also over neighbouring keys', () => {
  const tenths = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) {
    const tenth = Math.floor(seededRandom(`1/measure/${i}`)() * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  // Chi-square with 9 degrees of freedom: beyond 33.7 once in 10,000.
  const chiSquare = tenths.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
  expect(chiSquare).toBeLessThan(33.7);
});
