import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { requestRecord } from '../fixtures/run.ts';
import { requestColumns } from './request-columns.ts';

async function* numbered(count: number) {
  for (let index = 0; index < count; index++) yield requestRecord({ index });
}

test('a request by column, in base units; missing values are null', async () => {
  async function* one() {
    yield requestRecord({ input_tokens: null });
  }
  const fields = ['due_seconds', 'sent_seconds', 'time_to_first_token_seconds', 'inter_token_latency_seconds'] as const;
  const { columns } = await requestColumns(one(), () => true, [...fields, 'input_tokens', 'chunks', 'reason'], 10);
  expect(columns).toEqual({
    due_seconds: [0.3],
    sent_seconds: [0.3005],
    time_to_first_token_seconds: [0.12],
    // (470.5 − 420.5) ms ÷ 4
    inter_token_latency_seconds: [0.0125],
    input_tokens: [null],
    chunks: [3],
    reason: [null],
  });
});

test('above the limit: every n-th of the matching requests, with the smallest power of two as n', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 1, max: 40 }), async (count, limit) => {
      const { sampled, columns } = await requestColumns(
        numbered(2 * count),
        ({ index }) => index % 2 === 1,
        ['index'],
        limit,
      );
      const { shown, of, every } = sampled;
      expect([of, shown <= limit]).toEqual([count, true]);
      expect(columns.index).toEqual(Array.from({ length: shown }, (_, i) => 2 * i * every + 1));
      expect(shown).toBe(Math.ceil(count / every));
      if (every > 1) expect(Math.ceil(count / (every / 2))).toBeGreaterThan(limit);
    }),
  );
});
