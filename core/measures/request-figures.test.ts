import { describe, expect, test } from '@jest/globals';
import { interTokenLatencySeconds } from './measures.ts';
import { sentTokens } from './request-figures.ts';

const MS = 1e6;
/** Content from 500 to 580 ms. */
const request = (output_tokens: number | null, reasoning_tokens: number | null, first_output_ms: number | null) => ({
  first_content_ns: 500 * MS,
  first_output_ns: first_output_ms === null ? null : first_output_ms * MS,
  last_content_ns: 580 * MS,
  output_tokens,
  reasoning_tokens,
});

describe('tokens that were sent', () => {
  test.each([
    ['reasoning was sent before the output', request(103, 94, 570), 103],
    ['only reasoning was sent', request(103, 103, null), 103],
    ['reasoning was counted, and the output is the first content', request(103, 94, 500), 9],
    ['no reasoning', request(20, 0, 500), 20],
    ['reasoning is not known', request(20, null, 500), 20],
    ['tokens are not known', request(null, 94, 500), null],
  ])('%s', (_name, given, tokens) => {
    expect(sentTokens(given)).toBe(tokens);
  });

  test('the inter-token latency is of them', () => {
    // 9 tokens 10 ms apart, after 94 of reasoning that the server counts and does not send.
    expect(interTokenLatencySeconds(request(103, 94, 500))).toBeCloseTo(0.01, 12);
    expect(interTokenLatencySeconds(request(103, 94, 570))).toBeCloseTo(0.08 / 102, 12);
  });
});
