import { describe, expect, test } from '@jest/globals';
import { credibleUsage, requestRecord } from './request-record.ts';

const MS = 1e6;
const offsets = (chunks: number, gap_ns: number): number[] =>
  Array.from({ length: chunks }, (_, i) => 50 * MS + i * gap_ns);
const usage = (output_tokens: number | null, reasoning_tokens: number | null = null) => ({
  input_tokens: 100,
  output_tokens,
  reasoning_tokens,
  cached_tokens: null,
});

describe('usage beside chunks and times', () => {
  test.each([
    ['as many tokens as chunks', usage(20), offsets(20, 10 * MS), null],
    ['text that was held back is sent at the end', usage(18), offsets(20, 10 * MS), null],
    ['two tokens in 20 chunks', usage(2), offsets(20, 10 * MS), '2 tokens in 20 chunks'],
    ['no token in 20 chunks', usage(0), offsets(20, 10 * MS), '0 tokens in 20 chunks'],
    ['95 tokens in 100 chunks', usage(95), offsets(100, 10 * MS), null],
    ['94 tokens in 100 chunks', usage(94), offsets(100, 10 * MS), '94 tokens in 100 chunks'],
    ['ten tokens per chunk', usage(200), offsets(20, 10 * MS), null],
    ['more than any server generates in the time', usage(2500), offsets(20, 10 * MS), '2,500 tokens within 190 ms'],
    ['reasoning before the first chunk takes no time after it', usage(2500, 2400), offsets(20, 10 * MS), null],
    ['chunks that a proxy held back say nothing about the time', usage(2500), offsets(20, 1000), null],
    ['unknown tokens', usage(null), offsets(20, 10 * MS), null],
    ['no chunks', usage(5), [], null],
  ])('%s', (_name, counted, times, contradiction) => {
    const credible = contradiction === null ? counted : { ...counted, output_tokens: null, reasoning_tokens: null };
    expect(credibleUsage(counted, times)).toEqual({ usage: credible, contradiction });
  });
});

/** Of 20 chunks: the first whose content is no reasoning. */
test.each([
  ['reasoning that is counted and not sent', usage(103, 80), 0, 10 * MS, 50 * MS],
  ['reasoning that is mixed with the output', usage(20, 15), 0, 10 * MS, null],
  ['no reasoning', usage(20, 0), 0, 10 * MS, 50 * MS],
  ['reasoning before it', usage(20, 15), 15, 10 * MS, 200 * MS],
  ['reasoning before it that arrives at the same time', usage(20, 15), 15, 0, 50 * MS + 1],
])('the time of the first output, with %s', (_name, counted, firstOutputChunk, gap_ns, first_output_ns) => {
  const sent = { index: 0, phase: 'measure', due_ns: 0, sent_ns: 0, requested_output_tokens: 200 } as const;
  const record = requestRecord(sent, {
    end_ns: 1000 * MS,
    reason: null,
    status: 200,
    connection: null,
    usage: counted,
    counted_output_tokens: null,
    offsets_ns: offsets(20, gap_ns),
    firstOutputChunk,
    wholeResponseOffset_ns: null,
  });
  expect(record.first_output_ns).toBe(first_output_ns);
});
