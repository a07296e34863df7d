import { describe, expect, test } from '@jest/globals';
import { closedLoopKey } from './load-key.ts';
import { loadText, shortLoadText } from './load-text.ts';
import type { LoadKey } from './run.ts';

const closed = (concurrency: number | null): LoadKey => closedLoopKey(concurrency);
const atRate = (changes: Partial<LoadKey> = {}): LoadKey => ({
  ...closed(null),
  mode: 'request_rate',
  request_rate: 2.5,
  arrival_pattern: 'poisson',
  ...changes,
});
const traced = (concurrency: number | null): LoadKey => ({ ...closed(concurrency), mode: 'trace' });

describe('a load in words and in a column', () => {
  test.each<[LoadKey, string, string]>([
    [closed(8), 'concurrency 8', 'c8'],
    [closed(2048), 'concurrency 2,048', 'c2048'],
    [closed(null), 'unknown concurrency', 'concurrency'],
    [{ ...closed(8), prefill_concurrency: 2 }, 'concurrency 8, prefill concurrency up to 2', 'c8'],
    [atRate(), '2.5 requests/s (poisson)', '2.5/s'],
    [atRate({ arrival_pattern: null }), '2.5 requests/s', '2.5/s'],
    [atRate({ concurrency: 64 }), '2.5 requests/s (poisson), concurrency up to 64', '2.5/s c64'],
    [atRate({ request_rate: null, arrival_pattern: null }), 'unknown request rate', 'request rate'],
    [traced(null), 'at the times of the trace', 'trace'],
    [traced(64), 'at the times of the trace, concurrency up to 64', 'trace c64'],
  ])('%j', (load, long, short) => {
    expect(loadText(load)).toBe(long);
    expect(shortLoadText(load)).toBe(short);
  });

  test('an unknown load has no short form', () => {
    expect(shortLoadText({ mode: null, concurrency: null, request_rate: null })).toBeNull();
  });
});
