import { describe, expect, test } from '@jest/globals';
import { NOT_COUNTED, NOT_TRACED, type RequestRecord } from '../run/record.ts';
import { seededRandom } from '../stats/seeded-random.ts';
import { StagedSummary } from './staged-summary.ts';
import { SummaryAccumulator, type SummaryOptions } from './summary.ts';
import { changesOf, steadinessText } from './time-slices.ts';

const MS = 1e6;

/** A request that is sent at a time, has its first token after `ttft_ms`, and ends after 400 ms. */
function record(sent_ms: number, ttft_ms: number, more: Partial<RequestRecord> = {}): RequestRecord {
  const [sent_ns, first, end] = [sent_ms * MS, (sent_ms + ttft_ms) * MS, (sent_ms + 400) * MS];
  return {
    ...{ index: 0, phase: 'measure', due_ns: sent_ns, sent_ns, first_content_ns: first, first_output_ns: first },
    ...{ last_content_ns: end, end_ns: end, connection_reused: true, connect_ns: null, connection_retried: null },
    ...{ outcome: 'ok', reason: null, http_status: 200, input_tokens: 10, input_tokens_source: 'usage' },
    ...{ output_tokens: 5, output_tokens_source: 'usage', reasoning_tokens: null, cached_tokens: null },
    ...{ requested_output_tokens: 5, chunk_offsets_ns: [ttft_ms * MS, 400 * MS] },
    ...NOT_TRACED,
    ...NOT_COUNTED,
    ...more,
  };
}

function slicesOf(records: readonly RequestRecord[], options: Partial<SummaryOptions> = {}) {
  const summary = new SummaryAccumulator({ plannedConcurrency: null, slices: 'steady', ...options });
  for (const each of records) summary.add(each);
  return summary.summarize(null).slices;
}

/** Ten requests per second for 20 s; `ttft_ms` of the second. The window is 20.3 s: to the end of the last. */
const load = (ttft_ms: (second: number) => number): RequestRecord[] =>
  Array.from({ length: 200 }, (_, i) => record(i * 100, ttft_ms(Math.floor(i / 10)) + (i % 3)));

describe('slices', () => {
  test('ten requests each, with the medians of those that were sent in them', () => {
    const slices = slicesOf(load((second) => 100 + second));
    expect(slices?.seconds).toBeCloseTo(20.3 / 20, 9);
    expect(slices?.requests.ok).toHaveLength(20);
    expect(slices?.requests.ok.reduce((sum, n) => sum + n)).toBe(200);
    expect(slices?.requests.failed).toEqual(new Array(20).fill(0));
    const ttft = slices?.measures.find(({ measure }) => measure === 'time_to_first_token');
    // Sent from 0 to 1.015 s: eleven requests of 100 to 102 ms, and the first of the next second, 101 ms.
    expect(Math.abs((ttft?.p50[0] ?? NaN) / 0.101 - 1)).toBeLessThan(0.004);
    expect(ttft?.p90[0]).not.toBeNull();
    expect(ttft?.p99).toEqual(new Array(20).fill(null));
  });

  test('at most 60, whatever the number of requests', () => {
    const many = Array.from({ length: 3000 }, (_, i) => record(i * 20, 100));
    expect(slicesOf(many)?.requests.ok).toHaveLength(60);
    expect(slicesOf(many, { heldUpTo: 100 })).toEqual(slicesOf(many));
  });

  test('none of a run of few requests, and none shorter than half a request', () => {
    expect(slicesOf(load(() => 100).slice(0, 79))).toBeNull();
    // 200 requests of 400 ms: 1.4 s are seven slices of 200 ms, which are too few.
    expect(slicesOf(Array.from({ length: 200 }, (_, i) => record(i * 5, 100)))).toBeNull();
  });

  test('failed requests are counted where they were sent, and are in no percentile', () => {
    const failed = { outcome: 'error', reason: 'http_5xx', first_content_ns: null } as const;
    const records = load(() => 100).map((each, i) => (i < 5 ? { ...each, ...failed } : each));
    expect(slicesOf(records)?.requests.failed[0]).toBe(5);
    expect(slicesOf(records)?.requests.ok[0]).toBe(6);
  });
});

describe('changes', () => {
  test('a level that rises is found at its slice, with both levels; the steady part is the longer one', () => {
    const slices = slicesOf(load((second) => (second < 8 ? 100 : 150)));
    expect(slices?.changes).toEqual([
      {
        measure: 'time_to_first_token',
        slice: 8,
        before: expect.closeTo(0.101, 2),
        after: expect.closeTo(0.151, 2),
        p: 0.001,
      },
      expect.objectContaining({ measure: 'inter_token_latency', slice: 8 }),
    ]);
    expect(slices?.steady).toEqual({ from: 8, to: 20 });
    expect(steadinessText(slices ?? undefined)).toEqual([
      'TTFT p50 101 → 152 ms (+50.1 %) from 8.12 s on (p 0.001, 20 slices of 1.02 s)',
      expect.stringMatching(/^ITL p50 .* from 8.12 s on/),
      'longest steady part: 8.12 s to 20.3 s (12 slices); all figures are of the whole window',
    ]);
  });

  test('none: the whole is steady', () => {
    const slices = slicesOf(load(() => 100));
    expect(slices).toMatchObject({ changes: [], steady: { from: 0, to: 20 } });
    expect(steadinessText(slices ?? undefined)).toEqual([
      'steady: no change of TTFT p50, ITL p50, E2E p50 and throughput by 5 % or more over 20 slices of 1.02 s',
    ]);
  });

  test('a change of less than 5 % does not matter', () => {
    const step = (after: number): number[] =>
      Array.from({ length: 40 }, (_, i) => (i < 20 ? 1 : after) + (i % 3) * 1e-3);
    expect(changesOf('time_to_first_token', step(1.04))).toEqual([]);
    expect(changesOf('time_to_first_token', step(1.06))).toEqual([
      { measure: 'time_to_first_token', slice: 20, before: 1.001, after: 1.061, p: 0.001 },
    ]);
  });

  test('slices without a value are passed over, and their numbers stay', () => {
    const values = Array.from({ length: 40 }, (_, i) => (i % 4 === 0 ? null : (i < 21 ? 1 : 2) + (i % 3) * 1e-3));
    expect(changesOf('time_to_first_token', values).map(({ slice }) => slice)).toEqual([21]);
  });

  test('independent medians change by chance in about one of a thousand runs', () => {
    let alarms = 0;
    for (let run = 0; run < 1000; run++) {
      const random = seededRandom(`run ${run}`);
      if (
        changesOf(
          'time_to_first_token',
          Array.from({ length: 60 }, () => 1 + random()),
        ).length > 0
      )
        alarms += 1;
    }
    // 1 in 1,000: more than 6 has a probability below 0.0001.
    expect(alarms).toBeLessThanOrEqual(6);
  });

  test('stages change the load on purpose: slices, and no changes', async () => {
    const stage = { concurrency: 1, request_rate: null, duration_seconds: 10 } as never;
    const summary = new StagedSummary({ plannedConcurrency: null, stages: [stage] });
    for (const each of load((second) => (second < 8 ? 100 : 150))) summary.add(each);
    const { whole } = await summary.summarizeInSteps(null, () => Promise.resolve());
    expect(whole.slices).toMatchObject({ changes: null, steady: null });
    expect(steadinessText(whole.slices ?? undefined)).toEqual([]);
  });
});
