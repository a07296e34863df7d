import { describe, expect, test } from '@jest/globals';
import { NOT_COUNTED, NOT_TRACED } from '../run/record.ts';
import type { RequestRecord } from '../run/record.ts';
import type { DistributionResult, MeasureResult } from '../run/result.ts';
import { DISTRIBUTION_MEASURES } from './measures.ts';
import { StagedSummary } from './staged-summary.ts';
import { SummaryAccumulator } from './summary.ts';
import type { PhaseSummary, SummaryOptions } from './summary.ts';

const MS = 1_000_000;

/** A record from times in ms: sent, then the arrivals of its chunks since then, then the end since then. */
function record(
  sent_ms: number,
  chunks_ms: readonly number[],
  end_ms: number,
  more: Partial<RequestRecord> = {},
): RequestRecord {
  const first = chunks_ms[0];
  const last = chunks_ms.at(-1);
  return {
    index: 0,
    phase: 'measure',
    due_ns: sent_ms * MS,
    sent_ns: sent_ms * MS,
    first_content_ns: first === undefined ? null : (sent_ms + first) * MS,
    first_output_ns: first === undefined ? null : (sent_ms + first) * MS,
    last_content_ns: last === undefined ? null : (sent_ms + last) * MS,
    end_ns: (sent_ms + end_ms) * MS,
    connection_reused: null,
    connect_ns: null,
    connection_retried: null,
    outcome: 'ok',
    reason: null,
    http_status: 200,
    input_tokens: 100,
    input_tokens_source: 'usage',
    output_tokens: 3,
    output_tokens_source: 'usage',
    reasoning_tokens: null,
    cached_tokens: null,
    requested_output_tokens: 3,
    chunk_offsets_ns: chunks_ms.map((ms) => ms * MS),
    ...NOT_TRACED,
    ...NOT_COUNTED,
    ...more,
  };
}

/**
 * Two slots. Slot A: r0 [0, 400], r2 [400, 900]. Slot B: r1 [0, 600] which fails, r3 [600, 1000], r4 [1000, 1200] given up.
 * In flight 2 from 0 to 900 (r0 + r1, r2 + r1, r2 + r3), then 1.
 */
const RUN: readonly RequestRecord[] = [
  record(-500, [50, 60], 70, { phase: 'warmup' }),
  record(0, [100, 200, 300], 400, { cached_tokens: 25 }),
  record(0, [250], 600, { outcome: 'timeout', reason: 'idle_timeout', output_tokens: null, input_tokens: null }),
  record(400, [200, 300, 500], 500, { due_ns: 390 * MS }),
  record(600, [300, 340, 380], 400, { cached_tokens: 50 }),
  record(1000, [], 200, { outcome: 'cancelled', reason: 'cancelled', output_tokens: null, input_tokens: null }),
];

function summaryOf(
  records: readonly RequestRecord[],
  options: SummaryOptions = { plannedConcurrency: 2 },
  readAgain: readonly RequestRecord[] | null = records,
): PhaseSummary {
  const summary = new SummaryAccumulator(options);
  for (const each of records) summary.add(each);
  const chunks = summary.chunkReading();
  for (const each of readAgain ?? []) chunks.add(each);
  return summary.summarize(readAgain && chunks);
}

function distribution(
  { measures }: PhaseSummary,
  measure: string,
  { clock = 'sent', population = 'ok' }: Partial<Pick<MeasureResult, 'clock' | 'population'>> = {},
): DistributionResult {
  const found = measures.find((m) => m.measure === measure && m.clock === clock && m.population === population);
  if (found?.kind !== 'distribution') throw new Error(`no distribution ${measure} ${clock} ${population}`);
  return found;
}

function scalar({ measures }: PhaseSummary, measure: string): number | null {
  const found = measures.find((m) => m.measure === measure);
  if (found?.kind !== 'scalar') throw new Error(`no scalar ${measure}`);
  return found.value;
}

describe('counts and window', () => {
  const summary = summaryOf(RUN);

  test('of the measure phase only', () => {
    expect(summary.requests).toEqual({ ok: 3, error: 0, timeout: 1, cancelled: 1 });
    expect(summary.errors).toEqual({ idle_timeout: 1, cancelled: 1 });
    // From the first sent (0) to the last end, that of the cancelled one (1,200 ms).
    expect(summary.window).toEqual({ start_ns: 0, end_ns: 1200 * MS });
  });

  test('nothing measured: everything is null, nothing is 0 but counts', () => {
    const empty = summaryOf(RUN.slice(0, 1));
    expect(empty.window).toBeNull();
    expect(empty.requests).toEqual({ ok: 0, error: 0, timeout: 0, cancelled: 0 });
    for (const measure of empty.measures) {
      if (measure.kind === 'scalar') expect(measure.value).toBeNull();
      else expect([measure.n, measure.mean, measure.max, measure.percentiles.p50.value]).toEqual([0, null, null, null]);
    }
  });
});

describe('of more requests than are held', () => {
  const held = summaryOf(RUN);
  const passed = summaryOf(RUN, { plannedConcurrency: 2, heldUpTo: 3 });

  test('the statistics are the same, without intervals', () => {
    expect(passed.measures).toHaveLength(held.measures.length);
    for (const [i, measure] of passed.measures.entries()) {
      const expected = held.measures[i];
      if (measure.kind === 'scalar' || expected?.kind !== 'distribution') expect(measure).toEqual(expected);
      else {
        const { measure: name, population, clock, n, min, max, mean, std } = expected;
        expect(measure).toMatchObject({ measure: name, population, clock, n, min, max });
        expect(measure.mean).toEqual(mean === null ? null : expect.closeTo(mean, 12));
        expect(measure.std).toEqual(std === null ? null : expect.closeTo(std, 12));
        for (const [percentile, { value }] of Object.entries(expected.percentiles)) {
          expect([name, percentile, measure.percentiles[percentile as 'p50'].value]).toEqual([name, percentile, value]);
        }
      }
    }
  });
});

describe('a second reading of the chunks', () => {
  const needs = (options: SummaryOptions, records = RUN): boolean => {
    const summary = new SummaryAccumulator(options);
    for (const each of records) summary.add(each);
    return summary.needsChunks;
  };

  test('is needed for exact gaps and for the tokens at full load, and else changes nothing', () => {
    expect(needs({ plannedConcurrency: null })).toBe(true);
    expect(needs({ plannedConcurrency: 2, exactGapsLimit: 1 })).toBe(true);
    const many = { plannedConcurrency: null, exactGapsLimit: 1 };
    expect(needs(many)).toBe(false);
    expect(summaryOf(RUN, many, null)).toEqual(summaryOf(RUN, many));
    expect(needs({ plannedConcurrency: null }, [record(0, [100], 200)])).toBe(false);
  });
});

describe('distributions', () => {
  const summary = summaryOf(RUN);

  test('every measure is there, over ok, and the latencies that a failed request never ended over all', () => {
    const over = (population: string): string[] =>
      summary.measures.filter((m) => m.kind === 'distribution' && m.population === population).map((m) => m.definition);
    expect(over('ok')).toEqual(DISTRIBUTION_MEASURES.map((m) => m.definition));
    expect(over('all')).toEqual([
      'sent_to_first_content_chunk',
      'due_to_first_content_chunk',
      'sent_to_first_chunk_with_output',
      'first_to_second_content_chunk',
      'per_request_mean_from_usage',
      'sent_to_last_content_chunk',
      'due_to_last_content_chunk',
    ]);
  });

  test('time to first output token leaves reasoning out, and requests that said nothing else', () => {
    const thinking = [
      record(0, [100, 300], 400, { first_output_ns: 300 * MS }),
      record(100, [100, 200], 300, { first_output_ns: null }),
      record(200, [150, 200], 300),
    ];
    const summed = summaryOf(thinking);
    const ttfo = distribution(summed, 'time_to_first_output_token');
    expect([ttfo.n, ttfo.min, ttfo.max]).toEqual([2, expect.closeTo(0.15, 12), expect.closeTo(0.3, 12)]);
    expect(distribution(summed, 'time_to_first_token').n).toBe(3);
  });

  test('HTTP phases are there when a run was traced, and only then', () => {
    const traced = [1, 2, 3].map((i) =>
      record(0, [100, 300], 400, { http_blocked_ns: 0, http_waiting_ns: i * MS, http_dns_lookup_ns: null }),
    );
    const summed = summaryOf(traced);
    expect(distribution(summed, 'http_req_waiting')).toMatchObject({ n: 3, mean: expect.closeTo(0.002, 12) });
    expect(distribution(summed, 'http_req_dns_lookup')).toMatchObject({ n: 0, mean: null });
    expect(summary.measures.some(({ measure }) => measure.startsWith('http_'))).toBe(false);
  });

  test('time to first token over ok requests', () => {
    // 0.1, 0.2, 0.3: mean 0.2, std sqrt((0.01 + 0 + 0.01) / 3) = 0.0816…; p90 at rank 1.8: 0.2 + 0.8 × 0.1.
    const ttft = distribution(summary, 'time_to_first_token');
    expect(ttft).toMatchObject({ n: 3, unit: 'seconds', origin: 'client', kind: 'distribution' });
    expect(ttft.mean).toBeCloseTo(0.2, 12);
    expect(ttft.std).toBeCloseTo(Math.sqrt(0.02 / 3), 12);
    expect([ttft.min, ttft.max]).toEqual([0.1, 0.3].map((s) => expect.closeTo(s, 12)));
    expect(ttft.percentiles.p50.value).toBeCloseTo(0.2, 12);
    expect(ttft.percentiles.p90.value).toBeCloseTo(0.28, 12);
    expect(ttft.percentiles.p90.bounds).toBeNull();
    // Three values are too few for an interval.
    expect(ttft.percentiles.p50.ci95).toBeNull();
  });

  test('over all requests the failed one is infinitely slow, the cancelled one is not there', () => {
    // 0.1, 0.2, 0.3, ∞: p50 at rank 1.5: 0.25; p75 at rank 2.25 lies between 0.3 and ∞.
    const ttft = distribution(summary, 'time_to_first_token', { population: 'all' });
    expect([ttft.n, ttft.mean, ttft.std, ttft.max]).toEqual([4, null, null, null]);
    expect(ttft.min).toBeCloseTo(0.1, 12);
    expect(ttft.percentiles.p50.value).toBeCloseTo(0.25, 12);
    expect(ttft.percentiles.p75.value).toBeNull();
  });

  test('all requests failed: every value is null, n is not', () => {
    const failed = summaryOf([record(0, [], 10, { outcome: 'error', reason: 'http_5xx' })]);
    const ok = distribution(failed, 'request_latency');
    const all = distribution(failed, 'request_latency', { population: 'all' });
    expect([ok.n, ok.percentiles.p50.value]).toEqual([0, null]);
    expect([all.n, all.min, all.percentiles.p1.value]).toEqual([1, null, null]);
    expect(JSON.parse(JSON.stringify(failed.measures))).toEqual(failed.measures);
  });

  test.each([1000, 0])('a latency that no ok request has is not one of the failed ones alone (%i held)', (heldUpTo) => {
    const failed = record(0, [250], 600, { due_ns: null, outcome: 'timeout', reason: 'idle_timeout' });
    const records = [record(0, [100], 400, { due_ns: null }), failed, failed];
    const own = summaryOf(records, { plannedConcurrency: 2, heldUpTo });
    expect(distribution(own, 'time_to_first_token', { population: 'all' })).toMatchObject({ n: 3, min: 0.1 });
    const fromDue = distribution(own, 'time_to_first_token', { population: 'all', clock: 'due' });
    expect(fromDue).toMatchObject({ n: 0, mean: null, percentiles: { p50: { value: null } } });
  });

  test('without failures both populations are the same', () => {
    const fine = summaryOf(RUN.filter(({ outcome }) => outcome === 'ok'));
    const ok = distribution(fine, 'request_latency');
    expect(distribution(fine, 'request_latency', { population: 'all' })).toEqual({ ...ok, population: 'all' });
  });

  test('from due: 210 ms instead of 200', () => {
    expect(distribution(summary, 'time_to_first_token', { clock: 'due' }).percentiles.p50.value).toBeCloseTo(0.21, 12);
  });

  test('inter token latency is one value per request, from usage', () => {
    // (300 − 100)/2 = 100, (500 − 200)/2 = 150, (380 − 300)/2 = 40 ms.
    const itl = distribution(summary, 'inter_token_latency');
    expect([itl.n, itl.min, itl.percentiles.p50.value, itl.max]).toEqual(
      [3, 0.04, 0.1, 0.15].map((value) => expect.closeTo(value, 12)),
    );
  });

  test('a one-token answer has no inter token latency, and nothing is divided by 0', () => {
    const alone = summaryOf([record(0, [50], 60, { output_tokens: 1 })]);
    for (const name of ['inter_token_latency', 'inter_chunk_latency', 'output_token_throughput_per_user']) {
      expect(distribution(alone, name)).toMatchObject({ n: 0, mean: null, min: null, max: null });
    }
    // One token in 50 ms.
    expect(distribution(alone, 'e2e_output_token_throughput').mean).toBeCloseTo(20, 9);
    expect(distribution(alone, 'request_latency')).toMatchObject({ n: 1, mean: 0.05 });
    expect(distribution(alone, 'decode_duration').mean).toBe(0);
  });

  test('inter chunk latency is one value per gap of ok requests', () => {
    // Gaps in ms: 100, 100; 100, 200; 40, 40. Sorted 40, 40, 100, 100, 100, 200: p25 at rank 1.25: 40 + 0.25 × 60.
    const gaps = distribution(summary, 'inter_chunk_latency');
    expect(gaps.n).toBe(6);
    expect(gaps.mean).toBeCloseTo(0.58 / 6, 12);
    expect(gaps.percentiles.p25).toEqual({ value: expect.closeTo(0.055, 12), ci95: null, bounds: null });
    expect(summary.notes).toEqual([]);
  });

  test('intervals come with enough requests, the same whatever the order of ending', () => {
    const many = Array.from({ length: 400 }, (_, i) => record(i * 10, [20 + ((i * 37) % 101), 200, 300], 310));
    const one = distribution(summaryOf(many), 'time_to_first_token');
    const other = distribution(summaryOf(many.toReversed()), 'time_to_first_token');
    expect(one.percentiles.p50.ci95).not.toBeNull();
    const [low, high] = one.percentiles.p50.ci95 ?? [NaN, NaN];
    expect(low).toBeLessThanOrEqual(one.percentiles.p50.value ?? NaN);
    expect(high).toBeGreaterThanOrEqual(one.percentiles.p50.value ?? NaN);
    expect(one.effective_n).toBeGreaterThan(10);
    expect(other).toEqual(one);
  });
});

test('in steps it is the same, with a pause after each measure', async () => {
  const summary = new SummaryAccumulator({ plannedConcurrency: 2 });
  for (const each of RUN) summary.add(each);
  let pauses = 0;
  const inSteps = await summary.summarizeInSteps(null, async () => void (pauses += 1));
  expect(inSteps).toEqual(summary.summarize(null));
  expect(pauses).toBe(DISTRIBUTION_MEASURES.length);
});

describe('what AIPerf measures too', () => {
  // r0: chunks at 100, 200, 300 ms, 100 tokens in, 3 out, the first of them reasoning, over a new connection.
  const one = record(0, [100, 200, 300], 400, {
    reasoning_tokens: 1,
    first_output_ns: 200 * MS,
    connect_ns: 2 * MS,
    connection_reused: false,
  });
  const two = record(0, [50, 150], 400, { output_tokens: 6, connection_reused: true, requested_output_tokens: 6 });
  const summary = summaryOf([one, two]);

  test.each([
    ['decode_duration', [0.1, 0.2]],
    ['e2e_output_token_throughput', [3 / 0.3, 6 / 0.15]],
    ['output_token_throughput_per_user', [1 / 0.1, 1 / 0.02]],
    ['prefill_throughput_per_user', [1000, 2000]],
    ['output_token_count', [2]],
    ['reasoning_token_count', [1]],
    ['tokens_per_chunk', [1, 3]],
    ['connect_time', [0.002]],
  ])('%s', (measure, expected) => {
    const { n, min, max } = distribution(summary, measure);
    expect(n).toBe(expected.length);
    expect([min, max]).toEqual([expected[0], expected.at(-1)].map((value) => expect.closeTo(value ?? NaN, 9)));
  });

  test('tokens of the cache, and lengths that miss what was requested', () => {
    const lengths = [
      record(0, [10, 20], 30, { output_tokens: 95, requested_output_tokens: 100, cached_tokens: 40 }),
      record(0, [10, 20], 30, { output_tokens: 94, requested_output_tokens: 100, cached_tokens: 60 }),
      // 51 of 2,000 are less than 5 %, and more than 50 tokens.
      record(0, [10, 20], 30, { output_tokens: 1949, requested_output_tokens: 2000 }),
      record(0, [10, 20], 30, { output_tokens: null, output_tokens_source: null }),
    ];
    const summed = summaryOf(lengths);
    expect(distribution(summed, 'cached_input_tokens')).toMatchObject({ n: 2, mean: 50 });
    const missed = distribution(summed, 'output_length_difference_ratio');
    expect([missed.n, missed.min, missed.max]).toEqual([3, -0.06, -51 / 2000]);
    expect(scalar(summed, 'output_length_mismatch_count')).toBe(2);
    expect(scalar(summaryOf(lengths.slice(3)), 'output_length_mismatch_count')).toBeNull();
  });

  test("the server's counts against a tokenizer's: there when one counted, and only then", () => {
    const reported = { input_tokens: 105, output_tokens: 45, reasoning_tokens: 10 };
    const checked = summaryOf([
      record(0, [10, 20], 30, {
        ...reported,
        counted_input_tokens: 100,
        counted_output_tokens: 50,
        counted_reasoning_tokens: 8,
      }),
      record(0, [10, 20], 30, { ...reported, counted_input_tokens: 100 }),
      // Only a tokenizer counted: nothing to compare it with.
      record(0, [10, 20], 30, { ...reported, output_tokens_source: 'tokenizer', counted_output_tokens: 45 }),
    ]);
    // |105 − 100| ÷ 100 twice; |45 − 50| ÷ 50; |10 − 8| ÷ 8, which is above 10 %.
    expect(distribution(checked, 'usage_prompt_tokens_diff_ratio')).toMatchObject({ n: 2, min: 0.05, max: 0.05 });
    expect(distribution(checked, 'usage_completion_tokens_diff_ratio')).toMatchObject({ n: 1, mean: 0.1 });
    expect(distribution(checked, 'usage_reasoning_tokens_diff_ratio')).toMatchObject({ n: 1, mean: 0.25 });
    expect(scalar(checked, 'usage_discrepancy_count')).toBe(1);
    expect(summary.measures.some(({ measure }) => /^usage_/.test(measure))).toBe(false);
  });

  test('connections, lengths and input throughput', () => {
    expect(scalar(summary, 'reused_connection_ratio')).toBe(0.5);
    expect(scalar(summary, 'achieved_output_ratio')).toBe(1);
    expect(scalar(summary, 'input_token_throughput')).toBeCloseTo(200 / 0.4, 9);
  });

  test('answers that are not as long as requested', () => {
    const short = summaryOf([record(0, [10, 20], 30, { output_tokens: 94, requested_output_tokens: 100 })]);
    expect(scalar(short, 'achieved_output_ratio')).toBe(0.94);
  });

  test('stalls: gaps longer than five median gaps', () => {
    // Gaps in ms: 10, 10, 10, 50, 60. The median is 10: only 60 is longer than 50.
    const stalled = [record(0, [10, 20, 30, 40, 90, 150], 160, { output_tokens: 6, requested_output_tokens: 6 })];
    expect(scalar(summaryOf(stalled), 'stall_ratio')).toBeCloseTo(1 / 5, 12);
    // From the histogram the limit is known to 0.8 %: 50 ms may lie on either side.
    const rough = scalar(summaryOf(stalled, { plannedConcurrency: 2, exactGapsLimit: 1 }), 'stall_ratio');
    expect(rough).toBeGreaterThanOrEqual(1 / 5 - 1e-9);
    expect(rough).toBeLessThanOrEqual(2 / 5 + 1e-9);
  });

  test('chunks that share their time stamps give no information about stalls', () => {
    expect(scalar(summaryOf([record(0, [10, 10, 10, 90], 100)]), 'stall_ratio')).toBeNull();
    expect(scalar(summaryOf([record(0, [10], 100)]), 'stall_ratio')).toBeNull();
  });
});

describe('gaps from the histogram', () => {
  test.each([
    ['above the limit', { plannedConcurrency: 2, exactGapsLimit: 5 }, RUN, 'more than 5 gaps'],
    ['when the records cannot be read again', { plannedConcurrency: 2 }, null, 'could not be read a second time'],
    [
      'when records are missing from the file',
      { plannedConcurrency: 2 },
      RUN.slice(0, 2),
      'could not be read a second time',
    ],
  ])('%s, with bounds, and marked as such', (_, options, readAgain, why) => {
    const summary = summaryOf(RUN, options, readAgain);
    const gaps = distribution(summary, 'inter_chunk_latency');
    expect(gaps.n).toBe(6);
    expect(gaps.mean).toBeCloseTo(0.58 / 6, 12);
    expect([gaps.min, gaps.max]).toEqual([0.04, 0.2].map((s) => expect.closeTo(s, 12)));
    // The exact p50 is 100 ms: the third and fourth of six.
    const { value, bounds } = gaps.percentiles.p50;
    expect(bounds?.[0]).toBeLessThanOrEqual(0.1);
    expect(bounds?.[1]).toBeGreaterThanOrEqual(0.1);
    expect(value).toBeGreaterThanOrEqual(bounds?.[0] ?? NaN);
    expect(value).toBeLessThanOrEqual(bounds?.[1] ?? NaN);
    expect(summary.notes).toEqual([expect.stringContaining(why)]);
  });
});

describe('scalars', () => {
  const summary = summaryOf(RUN);

  test('throughput over the window of 1.2 s', () => {
    expect(scalar(summary, 'request_throughput')).toBeCloseTo(3 / 1.2, 12);
    expect(scalar(summary, 'output_token_throughput')).toBeCloseTo(9 / 1.2, 12);
    expect(scalar(summary, 'total_token_throughput')).toBeCloseTo(309 / 1.2, 12);
  });

  test('steady throughput over the 0.9 s at full load', () => {
    // Ended by 900 ms: r0 and r2. Chunks by 900 ms, one token each: r0 100, 200, 300; r2 600, 700, 900; r3 900.
    expect(scalar(summary, 'steady_request_throughput')).toBeCloseTo(2 / 0.9, 12);
    expect(scalar(summary, 'steady_output_token_throughput')).toBeCloseTo(7 / 0.9, 12);
  });

  test('steady throughput is null when the load never was full or has no planned number', () => {
    for (const plannedConcurrency of [3, null]) {
      const other = summaryOf(RUN, { plannedConcurrency });
      expect(scalar(other, 'steady_request_throughput')).toBeNull();
      expect(scalar(other, 'steady_output_token_throughput')).toBeNull();
    }
    const unread = summaryOf(RUN, { plannedConcurrency: 2 }, null);
    expect(scalar(unread, 'steady_request_throughput')).toBeCloseTo(2 / 0.9, 12);
    expect(scalar(unread, 'steady_output_token_throughput')).toBeNull();
  });

  test('answers that come whole: it is unknown when their tokens were generated', () => {
    const whole = RUN.map((each) => ({ ...each, first_content_ns: null, first_output_ns: null, chunk_offsets_ns: [] }));
    const summed = summaryOf(whole, { plannedConcurrency: 2 });
    expect(scalar(summed, 'steady_output_token_throughput')).toBeNull();
    expect(scalar(summed, 'steady_request_throughput')).toBeCloseTo(2 / 0.9, 12);
  });

  test('tokens at full load are null when records are missing from the file', () => {
    const partly = summaryOf(RUN, { plannedConcurrency: 2 }, RUN.slice(0, 3));
    expect(scalar(partly, 'steady_output_token_throughput')).toBeNull();
    // That gaps come from the histogram does not touch them.
    const many = summaryOf(RUN, { plannedConcurrency: 2, exactGapsLimit: 5 });
    expect(scalar(many, 'steady_output_token_throughput')).toBeCloseTo(7 / 0.9, 12);
  });

  test('ratios', () => {
    // 1 of 4 (the cancelled one is not counted); 75 of the 200 prompt tokens of the two that report both.
    expect(scalar(summary, 'error_ratio')).toBeCloseTo(0.25, 12);
    expect(scalar(summary, 'cached_input_ratio')).toBeCloseTo(75 / 200, 12);
    // 0.4 + 0.6 + 0.5 + 0.4 + 0.2 = 2.1 s in flight over 1.2 s.
    expect(scalar(summary, 'effective_concurrency')).toBeCloseTo(2.1 / 1.2, 12);
  });

  test('tokens that are not known for one ok request leave the sums unknown, requests are not', () => {
    const partly = summaryOf([...RUN, record(0, [10, 20], 30, { output_tokens: null })]);
    expect(scalar(partly, 'output_token_throughput')).toBeNull();
    expect(scalar(partly, 'total_token_throughput')).toBeNull();
    expect(scalar(partly, 'steady_output_token_throughput')).toBeNull();
    expect(scalar(partly, 'request_throughput')).toBeCloseTo(4 / 1.2, 12);
  });

  test('nothing succeeded: no throughput is a true 0', () => {
    const failed = summaryOf([record(0, [], 10, { outcome: 'error', reason: 'reset' })]);
    expect(scalar(failed, 'request_throughput')).toBe(0);
    expect(scalar(failed, 'error_ratio')).toBe(1);
    expect(scalar(failed, 'cached_input_ratio')).toBeNull();
  });
});

describe('conversations', () => {
  const turn = (conversation: number, number: number, sent_ms: number, more: Partial<RequestRecord> = {}) =>
    record(sent_ms, [10 * number, 20 * number], 20 * number, {
      ...{ conversation, turn: number, conversation_requests: 3 },
      ...more,
    });
  /** Two agents of the first conversation overlap from 100 to 140; the second fails; the third was cut off. */
  const TURNS: readonly RequestRecord[] = [
    turn(0, 1, 0),
    turn(0, 2, 100),
    turn(0, 3, 100, { think_ns: 80 * MS }),
    turn(3, 1, 200),
    turn(3, 2, 300, { outcome: 'error', reason: 'reset' }),
    turn(6, 1, 400),
  ];

  test('what is of a conversation as a whole is of the complete ones', () => {
    const { conversations, measures } = summaryOf(TURNS);
    expect(conversations).toEqual({ complete: 1, incomplete: 2 });
    const mean = (name: string) => measures.find(({ measure }) => measure === name);
    // From 0 to the last chunk at 160; in flight from 0 to 20 and from 100 to 160.
    expect(mean('conversation_duration')).toMatchObject({ n: 1, mean: 0.16 });
    expect(mean('conversation_serving_time')).toMatchObject({ n: 1, mean: 0.08 });
    expect(mean('conversation_requests')).toMatchObject({ mean: 3 });
    expect(mean('think_time')).toMatchObject({ n: 1, mean: 0.08 });
  });

  test('where the length is not known, a conversation without a failure is complete', () => {
    const unknown = TURNS.map((each) => ({ ...each, conversation_requests: null }));
    expect(summaryOf(unknown).conversations).toEqual({ complete: 2, incomplete: 1 });
  });

  test('first and later turns are populations of their own', async () => {
    const summary = new StagedSummary({ plannedConcurrency: null, stages: [] });
    const many = [...TURNS, turn(9, 1, 500), ...Array.from({ length: 40 }, (_, i) => turn(9, i + 2, 600 + i))];
    for (const each of many) summary.add(each);
    const reading = summary.chunkReading();
    for (const each of many) reading.add(each);
    const { breakdown } = await summary.summarizeInSteps(reading, async () => undefined);
    expect(breakdown.map(({ value, requests }) => [value, requests.ok])).toEqual([
      ...[
        ['first', 4],
        ['later', 42],
        ['2', 2],
        ['3-4', 3],
        ['5-8', 4],
        ['9-16', 8],
        ['17-32', 16],
        ['33+', 9],
      ],
    ]);
    const ttft = breakdown.map(({ measures }) => measures.find(({ measure }) => measure === 'time_to_first_token'));
    expect(ttft[0]).toMatchObject({ n: 4, mean: 0.01, max: 0.01 });
    expect(ttft[7]).toMatchObject({ n: 9, min: 0.33, max: 0.41 });
    expect(breakdown[2]?.requests).toMatchObject({ ok: 2, error: 1 });
    const gaps = breakdown[0]?.measures.find(({ measure }) => measure === 'inter_chunk_latency');
    expect(gaps).toMatchObject({ n: 4, mean: 0.01, percentiles: { p50: { value: 0.01, bounds: null } } });
  });

  test('requests without conversations have none of it', () => {
    const { conversations, measures } = summaryOf(RUN);
    expect(conversations).toBeNull();
    expect(measures.filter(({ measure }) => /conversation|think|tool/.test(measure))).toEqual([]);
  });
});

test('the network: the handshakes of all phases, of requests of any outcome', () => {
  const summary = new StagedSummary({ plannedConcurrency: null, stages: [] });
  expect(summary.networkOf('h:1')).toBeNull();
  const failed = { outcome: 'error', reason: 'http_5xx' } as const;
  summary.add(record(0, [10], 20, { phase: 'warmup', tcp_connect_ns: 3 * MS }));
  summary.add(record(10, [10], 20, { ...failed, tcp_connect_ns: 1 * MS }));
  summary.add(record(20, [10], 20, { tcp_connect_ns: 2 * MS }));
  summary.add(record(30, [10], 20, { tcp_connect_ns: null }));
  const found = summary.networkOf('h:1');
  expect(found).toMatchObject({ host: 'h:1', connections: 3, min_seconds: 0.001 });
  expect(Math.abs((found?.p50_seconds ?? NaN) / 0.002 - 1)).toBeLessThan(0.004);
});

test('the network: no round trip is longer than the fastest response took to begin', () => {
  const summary = new StagedSummary({ plannedConcurrency: null, stages: [] });
  // Handshakes of a client that was kept waiting.
  summary.add(record(0, [25], 40, { tcp_connect_ns: 79 * MS }));
  summary.add(record(50, [20], 40, { tcp_connect_ns: 80 * MS }));
  expect(summary.networkOf('h:1')).toMatchObject({ connections: 2, min_seconds: 0.02 });
});
