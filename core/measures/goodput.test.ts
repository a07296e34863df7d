import { describe, expect, test } from '@jest/globals';
import { NOT_COUNTED, NOT_TRACED } from '../run/record.ts';
import type { RequestRecord } from '../run/record.ts';
import { GOODPUT_LIMITED, goodputResults, goodRequest } from './goodput.ts';

const MS = 1e6;

/** Sent at 0, first content after 300 ms, last after 1,300 ms, 11 tokens: ITL 100 ms, 10 tokens/s per user. */
const RECORD: RequestRecord = {
  index: 0,
  phase: 'measure',
  due_ns: 0,
  sent_ns: 0,
  first_content_ns: 300 * MS,
  first_output_ns: 300 * MS,
  last_content_ns: 1300 * MS,
  end_ns: 1310 * MS,
  connection_reused: true,
  connect_ns: null,
  connection_retried: null,
  outcome: 'ok',
  reason: null,
  http_status: 200,
  input_tokens: 5,
  input_tokens_source: 'usage',
  output_tokens: 11,
  output_tokens_source: 'usage',
  reasoning_tokens: null,
  cached_tokens: null,
  requested_output_tokens: 11,
  chunk_offsets_ns: [300 * MS, 800 * MS, 1300 * MS],
  ...NOT_TRACED,
  ...NOT_COUNTED,
};
const ttft = (limit: number) => ({ measure: 'time_to_first_token', limit, unit: 'seconds' }) as const;
const rate = (limit: number) =>
  ({ measure: 'output_token_throughput_per_user', limit, unit: 'tokens_per_second' }) as const;

describe('a good request keeps every limit', () => {
  test.each([
    ['at the limit', [ttft(0.3)], true],
    ['above it', [ttft(0.2999)], false],
    ['at least, at the limit', [rate(10)], true],
    ['at least, below it', [rate(10.1)], false],
    ['both kept', [ttft(1), rate(5)], true],
    ['one of them not', [ttft(1), rate(50)], false],
  ])('%s', (_, limits, good) => expect(goodRequest(limits)(RECORD)).toBe(good));

  test('a request that lacks the measure is not good', () => {
    expect(goodRequest([rate(1)])({ ...RECORD, output_tokens: 1 })).toBe(false);
    expect(goodRequest([ttft(1)])({ ...RECORD, first_content_ns: null })).toBe(false);
  });

  test('what has no value per request, or no better direction, cannot be limited', () => {
    const names = GOODPUT_LIMITED.map(({ measure }) => measure);
    expect(names).toEqual(expect.arrayContaining(['time_to_first_token', 'request_latency', 'inter_token_latency']));
    for (const name of ['inter_chunk_latency', 'output_sequence_length', 'schedule_delay']) {
      expect(names).not.toContain(name);
      expect(() => goodRequest([{ measure: name, limit: 1, unit: 'seconds' }])).toThrow(RangeError);
    }
  });
});

test('count, share of ok, error and timeout, and rate; the limits are part of the definition', () => {
  const results = goodputResults([ttft(0.3), rate(5)], { good: 30, requests: 40, windowSeconds: 12 });
  expect(results.map(({ measure, value }) => [measure, value])).toEqual([
    ['good_request_count', 30],
    ['good_request_ratio', 0.75],
    ['goodput', 2.5],
  ]);
  expect(results[2]?.definition).toBe(
    'good_requests_over_window[output_token_throughput_per_user>=5 tokens_per_second,time_to_first_token<=0.3 seconds]',
  );
});

test('without requests there is nothing to divide by', () => {
  const results = goodputResults([ttft(1)], { good: 0, requests: 0, windowSeconds: null });
  expect(results.map(({ value }) => value)).toEqual([0, null, null]);
});
