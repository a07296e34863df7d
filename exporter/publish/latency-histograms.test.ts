import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { requestRecord } from './fixtures/run.ts';
import { LatencyHistograms, LiveHistogram } from './latency-histograms.ts';

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

describe('exemplars', () => {
  const exemplarsOf = (histograms: LatencyHistograms) =>
    histograms.families.flatMap((family) =>
      family.samples().flatMap(({ labels, exemplar }) => (exemplar ? [[family.name, labels['le'], exemplar]] : [])),
    );
  const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736';

  test('a traced request is the example of the buckets that contain its latencies', () => {
    const histograms = new LatencyHistograms('p_', {}, 1_000_000);
    histograms.replay(requestRecord({ trace_id }));
    const { end_ns } = requestRecord();
    const of = (value: unknown) => ({ labels: { trace_id }, value, timestampSeconds: 1000 + end_ns / 1e9 });
    // The values of the first test above; each in the first bucket whose bound is not below it.
    expect(exemplarsOf(histograms)).toEqual([
      ['p_time_to_first_token_seconds', expect.any(String), of(0.12)],
      ['p_time_to_first_token_from_due_seconds', expect.any(String), of(0.1205)],
      ['p_inter_token_latency_seconds', expect.any(String), of(expect.closeTo(0.0125, 12))],
      ['p_request_latency_seconds', expect.any(String), of(expect.closeTo(0.17, 12))],
    ]);
    for (const [, bound, exemplar] of exemplarsOf(histograms))
      expect((exemplar as { value: number }).value).toBeLessThanOrEqual(Number(bound));
  });

  test('the last of a bucket stays, and requests that are not traced are none', () => {
    const histograms = new LatencyHistograms('p_', {}, 0);
    histograms.replay(requestRecord({ trace_id: 'a'.repeat(32) }));
    histograms.replay(requestRecord({ trace_id }));
    histograms.replay(requestRecord());
    expect(exemplarsOf(histograms).map(([, , exemplar]) => exemplar)).toEqual(
      Array.from({ length: 4 }, () => expect.objectContaining({ labels: { trace_id } })),
    );
  });
});

const bucketsOf = (histogram: LiveHistogram): (readonly [string, number])[] =>
  histogram
    .samples()
    .flatMap(({ labels, value }) => (labels['le'] === undefined ? [] : [[labels['le'], value] as const]));

describe('LiveHistogram', () => {
  test('edges belong to the bucket below: (low, high]', () => {
    const histogram = new LiveHistogram('x_seconds', 'x', { run_id: 'r' }, [0, 0.5, 1]);
    for (const value of [0, 0.5, 0.75, 1, 2]) histogram.observe(value);
    expect(histogram.samples()).toEqual([
      { metricName: 'x_seconds_bucket', labels: { le: '0.0' }, sharedLabels: { run_id: 'r' }, value: 1 },
      { metricName: 'x_seconds_bucket', labels: { le: '0.5' }, sharedLabels: { run_id: 'r' }, value: 2 },
      { metricName: 'x_seconds_bucket', labels: { le: '1.0' }, sharedLabels: { run_id: 'r' }, value: 4 },
      { metricName: 'x_seconds_bucket', labels: { le: '+Inf' }, sharedLabels: { run_id: 'r' }, value: 5 },
      { metricName: 'x_seconds_sum', labels: {}, sharedLabels: { run_id: 'r' }, value: 4.25 },
      { metricName: 'x_seconds_count', labels: {}, sharedLabels: { run_id: 'r' }, value: 5 },
    ]);
  });

  test('each cumulative count is the number of values at or below the bound', () => {
    const finite = fc.double({ min: -10, max: 100, noNaN: true });
    fc.assert(
      fc.property(fc.uniqueArray(finite, { minLength: 1, maxLength: 120 }), fc.array(finite), (unsorted, values) => {
        const bounds = unsorted.sort((a, b) => a - b);
        const histogram = new LiveHistogram('x', 'x', {}, bounds);
        for (const value of values) histogram.observe(value);
        const expected = bounds.map((bound) => values.filter((value) => value <= bound).length);
        expect(bucketsOf(histogram).map(([, count]) => count)).toEqual([...expected, values.length]);
      }),
    );
  });
});
