import { describe, expect, test } from '@jest/globals';
import { interTokenLatencySeconds } from './measures.ts';
import { streamedTokens, usageContradiction } from './usage-check.ts';

const MS = 1e6;
const offsets = (chunks: number, gap_ns: number): number[] =>
  Array.from({ length: chunks }, (_, i) => 50 * MS + i * gap_ns);
const usage = (output_tokens: number | null, reasoning_tokens: number | null = null) => ({
  output_tokens,
  reasoning_tokens,
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
    expect(usageContradiction(counted, times, times[0] ?? null)).toBe(contradiction);
  });
});

describe('tokens that were sent', () => {
  test.each([
    ['reasoning was sent', 103, 94, 103, false, 103],
    ['reasoning was counted, and output was sent', 103, 94, 9, true, 9],
    ['several tokens per chunk', 103, 94, 4, true, 9],
    ['reasoning was sent as output', 103, 94, 103, true, 103],
    ['no reasoning', 20, 0, 20, true, 20],
    ['reasoning is not known', 20, null, 20, true, 20],
    ['chunks are not known', 103, 94, 0, true, 103],
  ])('%s', (_name, output, reasoning, chunks, beganWithOutput, tokens) => {
    expect(streamedTokens(usage(output, reasoning), chunks, beganWithOutput)).toBe(tokens);
  });

  test('the inter-token latency is that of tokens that were sent', () => {
    // 9 tokens 10 ms apart, after 94 of reasoning that the server counts and does not send.
    const request = {
      first_content_ns: 500 * MS,
      first_output_ns: 500 * MS,
      last_content_ns: 580 * MS,
      output_tokens: 103,
      reasoning_tokens: 94,
    };
    expect(interTokenLatencySeconds(request, 9)).toBeCloseTo(0.01, 12);
    expect(interTokenLatencySeconds({ ...request, first_output_ns: 570 * MS }, 9)).toBeCloseTo(0.08 / 102, 12);
  });
});
