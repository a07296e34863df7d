import { expect, test } from '@jest/globals';
import { SearchBudget } from './search-budget.ts';

test('what is left for a probe, after the check of each server: at most 2 requests and 32 tokens', () => {
  let now = 100;
  const budget = new SearchBudget({ requests: 100, seconds: 60, output_tokens: 1000 }, 2, undefined, () => now);
  expect(budget.allowance).toEqual({ requests: 96, outputTokens: 936, seconds: 60 });
  now += 10;
  budget.spend(40, 300);
  expect(budget.used).toEqual({ requests: 44, seconds: 10, output_tokens: 364 });
  expect(budget.allowance).toEqual({ requests: 52, outputTokens: 572, seconds: 50 });
});

test('a search that continues has used what the part before used; without limits all is infinite', () => {
  const before = { requests: 44, seconds: 10, output_tokens: 364 };
  const budget = new SearchBudget({ requests: 50, seconds: null, output_tokens: null }, 1, before, () => 0);
  expect(budget.allowance).toEqual({ requests: 4, outputTokens: Infinity, seconds: Infinity });
});
