import { describe, expect, test } from '@jest/globals';
import type { EventMeaning, Usage } from '../endpoints/endpoint.ts';
import { ResponseProgress } from './response-progress.ts';

const NOTHING: EventMeaning = { content: false, finishReason: null, usage: null, error: null };
const NONE: Usage = { input_tokens: null, output_tokens: null, reasoning_tokens: null, cached_tokens: null };

const reported = (usage: Partial<Usage>): EventMeaning => ({ ...NOTHING, usage: { ...NONE, ...usage } });
const chunk = (output_tokens: number | null): EventMeaning => ({ ...reported({ output_tokens }), content: true });

function usageAfter(events: readonly EventMeaning[], requested = 1000): Usage | null {
  const progress = new ResponseProgress(false, requested);
  for (const event of events) progress.take(event);
  return progress.usage;
}

describe('usage in several events', () => {
  test('fields merge: a later null or zero replaces no number', () => {
    const events = [
      reported({ input_tokens: 100, cached_tokens: 0 }),
      reported({ output_tokens: 20, reasoning_tokens: 5 }),
      reported({ input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 64 }),
      reported({}),
    ];
    expect(usageAfter(events)).toEqual({
      input_tokens: 100,
      output_tokens: 20,
      reasoning_tokens: 5,
      cached_tokens: 64,
    });
  });

  test('a later number replaces an earlier one', () => {
    expect(usageAfter([reported({ output_tokens: 20 }), reported({ output_tokens: 21 })])?.output_tokens).toBe(21);
    expect(usageAfter([reported({ output_tokens: 0 })])?.output_tokens).toBe(0);
  });
});

/** What a chunk's usage counts, by the numbers in chunks with content and in an event without content at the end. */
describe.each<[string, readonly number[], number | null, number | null]>([
  ['the tokens so far', [1, 2, 3, 4, 5, 6], null, 6],
  ['the tokens so far, in the last chunks without a new one', [1, 2, 3, 4, 4, 4], null, 4],
  ['the tokens so far, several per chunk', [5, 9, 15, 20], 20, 20],
  ['one token each', Array<number>(20).fill(1), null, 20],
  ['one token each, then the total', Array<number>(20).fill(1), 20, 20],
  ['one token each, then one that ends it', Array<number>(20).fill(1), 1, 21],
  ['one token each, then zero', Array<number>(20).fill(1), 0, 20],
  ['two chunks of one token', [1, 1], null, 2],
  ['different numbers of tokens', [3, 1, 2, 4, 1, 1], null, 12],
  ['many tokens each', [8, 6, 7, 8, 5], null, 34],
  ['the total, in each chunk', Array<number>(20).fill(20), null, 20],
  ['the total, in each chunk and at the end', Array<number>(20).fill(20), 20, 20],
])('%s', (_what, counts, end, tokens) => {
  test('is recognized', () => {
    const last = end === null ? [] : [reported({ output_tokens: end })];
    expect(usageAfter([...counts.map(chunk), ...last], 40)?.output_tokens).toBe(tokens);
  });
});

test('the same number in every chunk that may be its tokens or all: unknown', () => {
  // 4 chunks of 5 tokens are 20, no more than were requested; or a server that knew its 5 tokens from the start.
  expect(usageAfter([5, 5, 5, 5].map(chunk), 20)?.output_tokens).toBeNull();
  expect(usageAfter([5, 5, 5, 5].map(chunk), 19)?.output_tokens).toBe(5);
});
