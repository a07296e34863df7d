import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RequestRecord } from '../../../core/run/record.ts';
import { requestRecord, runFile } from '../fixtures/run.ts';
import { createLiveMetrics } from '../live-metrics.ts';
import { CustomBuckets } from './sending.ts';
import { ExponentialHistogram, NativeLatencies } from './native-latencies.ts';
import { FamilySampler } from './remote-write-publisher.ts';
import type { SeriesLabels } from './pushed-series.ts';

const MS = 1e6;

describe('exponential buckets', () => {
  test('each value is in the bucket (low, high] that it belongs to', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-8, max: 1e6, noNaN: true, minExcluded: true }), (value) => {
        const histogram = new ExponentialHistogram();
        histogram.observe(value);
        const [bucket, ...others] = histogram.read().positive;
        expect(others).toEqual([]);
        expect(bucket?.count).toBe(1);
        expect(value).toBeGreaterThan(bucket?.low ?? NaN);
        expect(value).toBeLessThanOrEqual(bucket?.high ?? NaN);
      }),
    );
  });

  test.each([-24, -3, 0, 1, 10])('2^%i is the upper bound of its bucket', (power) => {
    const histogram = new ExponentialHistogram();
    histogram.observe(2 ** power);
    expect(histogram.read().positive).toEqual([expect.objectContaining({ index: 8 * power, high: 2 ** power })]);
  });

  test('zero and negative values are in the zero bucket, too large ones in the last; all are counted', () => {
    const histogram = new ExponentialHistogram();
    [0, -1, 1e-12, 1e300].forEach((value) => histogram.observe(value));
    expect(histogram.read()).toMatchObject({ count: 4, zeroCount: 3, positive: [{ index: 160, count: 1 }] });
  });
});

/** Calls the observers of a run as a schedule of two requests would. */
function play(observers: readonly (NativeLatencies | ReturnType<typeof createLiveMetrics>)[]): void {
  const failed: RequestRecord = requestRecord({ outcome: 'error', reason: 'reset' });
  for (const each of observers) {
    each.requestSent('warmup', 0, 5 * MS);
    each.firstContent('warmup', 5 * MS, 6 * MS);
    each.requestSent('measure', 0, 1 * MS);
    each.firstContent('measure', 120 * MS, 121 * MS);
    each.chunkGap('measure', 20 * MS);
    each.chunkGap('measure', 30 * MS);
    each.requestEnded(requestRecord());
    each.requestEnded(failed);
  }
}

const classic = () => createLiveMetrics({ run: runFile(), version: '0' });
const nameOf = (labels: SeriesLabels): string => labels.find(([label]) => label === '__name__')?.[1] ?? '';

test('the same values are in the exponential and in the classic histograms', () => {
  const live = classic();
  const labels = { run_id: runFile().run_id, shard: '0' };
  const native = new NativeLatencies(labels);
  play([live, native]);
  expect(native.sources.map(({ name }) => name)).toEqual(
    live.families
      .filter(({ type, name }) => type === 'histogram' && !name.includes('event_loop'))
      .map(({ name }) => name),
  );
  for (const source of native.sources) {
    const samples = live.families.find(({ name }) => name === source.name)?.samples() ?? [];
    const valueOf = (suffix: string) => samples.find(({ metricName }) => metricName === source.name + suffix)?.value;
    const { count, sum } = source.histogram();
    expect({ name: source.name, count, sum }).toEqual({
      name: source.name,
      count: valueOf('_count'),
      sum: valueOf('_sum'),
    });
    expect(count).toBeGreaterThan(0);
  }
});

test('custom buckets have the counts of the classic buckets', () => {
  const live = classic();
  play([live]);
  const { layout, values } = new FamilySampler({
    families: live.families,
    extraLabels: { job: 'b' },
    created_ms: 1,
  }).read();
  if (layout === null) throw new Error('the first reading includes its layout');
  const custom = new CustomBuckets(layout);
  const { native } = custom.withNative({ time_ms: 1, values: [...values], native: [] });
  const at = custom.layout.nativeSeries.findIndex(
    ({ labels }) => nameOf(labels) === 'llmbench_inter_chunk_latency_seconds',
  );
  expect(Object.fromEntries(custom.layout.nativeSeries[at]?.labels ?? [])).toEqual({
    __name__: 'llmbench_inter_chunk_latency_seconds',
    job: 'b',
    run_id: runFile().run_id,
    shard: '0',
  });
  const histogram = native?.[at];
  expect(histogram).toMatchObject({ schema: -53, count: 2, zeroCount: 0, negative: [] });
  expect(histogram?.sum).toBeCloseTo(0.05, 12);
  // 20 ms and 30 ms are bounds of the grid, and a bucket includes its upper bound.
  expect(histogram?.positive.map(({ high, count }) => [high, count])).toEqual([
    [0.02, 1],
    [0.03, 1],
  ]);
  expect(histogram?.positive.every(({ index, high }) => histogram.customBounds?.[index] === high)).toBe(true);
});

test('metrics of the process itself are not attributed to the run', () => {
  const { layout } = new FamilySampler({ families: classic().families, extraLabels: {}, created_ms: null }).read();
  const names = new Set(layout?.series.map(({ labels }) => nameOf(labels)));
  expect(names.has('llmbench_build_info')).toBe(false);
  expect(names.has('llmbench_series_dropped_total')).toBe(false);
  expect(names.has('llmbench_run_info')).toBe(true);
});
