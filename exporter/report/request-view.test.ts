import { describe, expect, test } from '@jest/globals';
import { exampleRecord } from '../store/fixtures/example-run.ts';
import {
  MAX_DOTS,
  RequestViewBuilder,
  LatencySample,
  OpenIntervals,
  StepSums,
  type RequestView,
  timeBins,
  binOf,
  binPercentiles,
  binSeconds,
} from './request-view.ts';

function viewOf(records: readonly ReturnType<typeof exampleRecord>[]): RequestView {
  const builder = new RequestViewBuilder();
  records.forEach((record) => builder.add(record));
  const view = builder.view();
  if (view === null) throw new Error('there are no records');
  return view;
}

// Two slots of 100 ms each, the first request is the warm-up, every fifth fails: see exampleRecord.
const VIEW = viewOf(Array.from({ length: 100 }, (_, i) => exampleRecord(i)));

describe('a run', () => {
  test('distributions are those of the ok requests that were measured', () => {
    expect(VIEW.timeToFirstToken.sorted).toHaveLength(79);
    expect(VIEW.failed).toBe(20);
    // Two gaps each.
    expect(VIEW.gaps?.counts.at(-1)).toBe(158);
  });

  test('the warm-up is drawn over time', () => {
    expect(VIEW.timeToFirstToken.requests).toBe(80);
  });

  test('sums over time are those of the records', () => {
    const { bins } = VIEW;
    const total = (perSecond: readonly number[]): number =>
      perSecond.reduce(
        (sum, value, bin) =>
          sum + value * (bin === bins.count - 1 ? bins.spanSeconds - bin * bins.widthSeconds : bins.widthSeconds),
        0,
      );
    expect(total(VIEW.okPerSecond)).toBeCloseTo(80, 6);
    expect(total(VIEW.failedPerSecond)).toBeCloseTo(20, 6);
    expect(total(VIEW.tokensPerSecond ?? [])).toBeCloseTo(80 * 3, 6);
    expect(VIEW.inFlight[3]).toBeCloseTo(1.98, 3);
  });
});

test('tokens are not drawn if one response does not report them', () => {
  expect(viewOf([exampleRecord(1), exampleRecord(2, { output_tokens: null })]).tokensPerSecond).toBeNull();
});

test('of many requests a sample is drawn, and the total is known', () => {
  const view = viewOf(Array.from({ length: 5000 }, (_, i) => exampleRecord(i)));
  expect(view.requestLatency.dots).toHaveLength(MAX_DOTS);
  expect(view.requestLatency.requests).toBe(4000);
  expect(new Set(view.requestLatency.dots.map(([at]) => at)).size).toBeGreaterThan(MAX_DOTS / 2);
});

test('without records there is no view', () => {
  expect(new RequestViewBuilder().view()).toBeNull();
});

test('records without latencies give an empty view', () => {
  const view = viewOf([exampleRecord(4)]);
  expect([view.timeToFirstToken.sorted.length, view.gaps, view.failed]).toEqual([0, null, 1]);
});

function sampleOf(n: number, most: number): LatencySample {
  const sample = new LatencySample(most);
  for (let i = 0; i < n; i++) sample.add(i, i / 4, i >= 10);
  return sample;
}

describe('a sample of latencies', () => {
  test('keeps all values up to the limit', () => {
    const sample = sampleOf(3000, 5000);
    expect([...sample.at_seconds]).toEqual(Array.from({ length: 3000 }, (_, i) => i));
    expect([...sample.sortedMeasured().subarray(0, 2)]).toEqual([2.5, 2.75]);
    expect(sample.sortedMeasured()).toHaveLength(2990);
  });

  test('keeps a random sample above the limit, and the total count', () => {
    const sample = sampleOf(100_000, 5000);
    expect([sample.requests, sample.measuredRequests, sample.values.length]).toEqual([100_000, 99_990, 5000]);
    // Each with its own moment, and none twice.
    expect(sample.values.every((value, i) => value * 4 === sample.at_seconds[i])).toBe(true);
    expect(new Set(sample.values).size).toBe(5000);
    // Uniform over the whole: the mean of 5,000 of them has a standard error of 204 from the middle.
    const mean = sample.at_seconds.reduce((sum, at) => sum + at, 0) / 5000;
    expect(Math.abs(mean - 50_000)).toBeLessThan(5 * 408);
  });

  test('is deterministic', () => {
    expect(sampleOf(20_000, 100).values).toEqual(sampleOf(20_000, 100).values);
  });

  test('skips requests without a value', () => {
    const sample = new LatencySample();
    sample.add(1, NaN, true);
    expect([sample.requests, sample.values.length, sample.sortedMeasured().length]).toEqual([0, 0, 0]);
  });
});

test('requests in flight are a mean over time', () => {
  // Bins of 0.5 s. One from 0 to 1, one from 0.75 to 1.25 of 6 s, one inside a step.
  const open = new OpenIntervals();
  open.add(0, 1);
  open.add(0.75, 1.25);
  open.add(2.02, 2.07);
  const mean = open.mean(timeBins(6));
  [1, 1.5, 0.5, 0, 0.1, 0].forEach((expected, bin) => expect(mean[bin]).toBeCloseTo(expected, 9));
});

test('amounts are per second of their bin, also of a longer last one', () => {
  const sums = new StepSums();
  sums.add(0.45, 3);
  sums.add(20.15, 7);
  const perSecond = sums.perSecond(timeBins(20.2));
  expect(perSecond[0]).toBeCloseTo(6, 9);
  // From 19.5 to 20.2.
  expect(perSecond.at(-1)).toBeCloseTo(10, 9);
});

describe('bins', () => {
  test.each([
    [1.2, 0, 0.1, 12],
    [20, 0, 0.5, 40],
    [100, 0, 1, 100],
    [3600, 0, 30, 120],
    // Wider if requested: the next named width.
    [20, 1.1, 2, 10],
    [604_800, 0, 7200, 84],
    [0, 0, 0.1, 1],
  ])('%f s, at least %f s each: of %f s, %i of them', (span, least, width, count) => {
    expect(timeBins(span, least)).toMatchObject({ widthSeconds: width, count });
  });

  test('the last bin takes the remainder', () => {
    const bins = timeBins(20.2);
    expect([bins.count, binSeconds(bins, 39), binOf(bins, 20.1)]).toEqual([40, expect.closeTo(0.7, 9), 39]);
    expect(binSeconds(timeBins(20.3), 40)).toBeCloseTo(0.3, 9);
  });
});

test('a percentile exists only for bins with enough values', () => {
  const at = Float64Array.from({ length: 12 }, (_, i) => (i < 11 ? 0.1 : 0.7));
  const values = Float64Array.from({ length: 12 }, (_, i) => i);
  const { p50, p90, p99 } = binPercentiles(timeBins(6), at, values);
  // 0 … 10: the median is 5, p90 9. The 12th stands alone. Then nothing.
  expect([p50[0], p50[1], p50[2]]).toEqual([5, 11, null]);
  expect([p90[0], p90[1]]).toEqual([9, null]);
  expect(p99[0]).toBeNull();
});
