import { describe, expect, test } from '@jest/globals';
import { requestRecord } from './fixtures/run.ts';
import { LatencyHistograms } from './latency-histograms.ts';

/** name of the measure → [count, sum] */
function totals(histograms: LatencyHistograms): Record<string, readonly [number, number]> {
  return Object.fromEntries(
    histograms.families.map((family) => {
      const [sum, count] = family.samples().slice(-2);
      return [family.name.replace(/^p_(.*)_seconds$/, '$1'), [count?.value ?? NaN, sum?.value ?? NaN]];
    }),
  );
}

describe('LatencyHistograms.replay', () => {
  test('an ok request is in all of them', () => {
    const histograms = new LatencyHistograms('p_', {});
    histograms.replay(requestRecord());
    // sent 300.5, content at 420.5, 440.5, 470.5 ms, five tokens: 50 ms ÷ 4
    expect(totals(histograms)).toEqual({
      time_to_first_token: [1, 0.12],
      time_to_first_token_from_due: [1, 0.1205],
      inter_token_latency: [1, expect.closeTo(0.0125, 12)],
      inter_chunk_latency: [2, expect.closeTo(0.05, 12)],
      request_latency: [1, expect.closeTo(0.17, 12)],
      schedule_delay: [1, 0.0005],
    });
  });

  test('one that failed later has no latency of a whole request', () => {
    const histograms = new LatencyHistograms('p_', {});
    histograms.replay(requestRecord({ outcome: 'error', reason: 'reset' }));
    const counts = Object.entries(totals(histograms)).map(([name, [count]]) => [name, count]);
    expect(Object.fromEntries(counts)).toEqual({
      time_to_first_token: 1,
      time_to_first_token_from_due: 1,
      inter_token_latency: 0,
      inter_chunk_latency: 2,
      request_latency: 0,
      schedule_delay: 1,
    });
  });

  test('one without content has a schedule delay only', () => {
    const histograms = new LatencyHistograms('p_', {});
    const none = { first_content_ns: null, last_content_ns: null, chunk_offsets_ns: [] };
    histograms.replay(requestRecord({ outcome: 'timeout', reason: 'request_timeout', ...none }));
    expect(Object.values(totals(histograms)).map(([count]) => count)).toEqual([0, 0, 0, 0, 0, 1]);
  });
});
