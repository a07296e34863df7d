import { describe, expect, test } from '@jest/globals';
import { checkStatistics, FLOOR_RANK, NUMPY_LINEAR, noteDisorder, plausibleMeasures } from './check-statistics.ts';
import { ImportNotes } from '../import-notes.ts';
import { statedDistribution, statedScalar } from './stated-measures.ts';

const VALUES = Float64Array.of(0.4, 0.1, 0.3, 0.2);

const STATED = { mean: 0.25, std: Math.sqrt(0.0125), min: 0.1, max: 0.4 };

const disagreements = (
  reported: Partial<typeof STATED>,
  percentiles: [number, number][],
  method = NUMPY_LINEAR,
): readonly string[] => {
  const notes = new ImportNotes();
  const reported_ = { ...STATED, ...reported, percentiles: new Map(percentiles) };
  checkStatistics('ttft', reported_, VALUES, method, notes);
  return notes.disagreements;
};

describe('the figures of a file compared with its own values', () => {
  // By hand: numpy.percentile([.1, .2, .3, .4], 90) = .1 + 2.7 × .1.
  test('agree within rounding', () => {
    expect(disagreements({ mean: 0.25 + 1e-10 }, [[0.9, 0.37]])).toEqual([]);
  });

  test('disagree', () => {
    expect(disagreements({ mean: 0.26 }, [[0.9, 0.4]])).toEqual([
      'ttft mean: the file states 0.26 seconds, its own values result in 0.25 seconds',
      'ttft p90: the file states 0.4 seconds, its own values result in 0.37 seconds',
    ]);
  });

  // sorted[int(4 × 0.5)] = sorted[2].
  test('by the method of the tool', () => {
    expect(disagreements({}, [[0.5, 0.3]], FLOOR_RANK)).toEqual([]);
    expect(disagreements({}, [[0.5, 0.25]], FLOOR_RANK)).toHaveLength(1);
    expect(FLOOR_RANK(Float64Array.of(1, 2), 1)).toBe(2);
  });

  test('report nothing without values', () => {
    const notes = new ImportNotes();
    checkStatistics('ttft', { ...STATED, percentiles: new Map() }, new Float64Array(0), NUMPY_LINEAR, notes);
    expect(notes.disagreements).toEqual([]);
  });
});

const LATENCY = { measure: 'request_latency', definition: 'sent_to_last_chunk' };
const RATE = { measure: 'request_throughput', definition: 'ok_requests_over_window' };

test('figures of no request are unknown: zeros without a remark, others with one', () => {
  const notes = new ImportNotes();
  const stated = [
    statedDistribution(LATENCY, { n: 0, mean: 0, percentiles: { p50: 0 } }),
    statedDistribution(
      { ...LATENCY, measure: 'time_to_first_token' },
      { n: null, mean: 0.2, percentiles: { p99: 0.5 } },
    ),
    statedScalar(RATE, 35),
  ];
  const [latency, ttft, rate] = plausibleMeasures(stated, 0, notes);
  expect(latency).toMatchObject({ n: 0, mean: null, percentiles: { p50: { value: null } } });
  expect(ttft).toMatchObject({ mean: null, percentiles: { p99: { value: null } } });
  expect(rate).toMatchObject({ value: null });
  expect(notes.lines).toEqual(['3 × figures of 0 requests read as unknown (first: time_to_first_token mean)']);
});

test('values of some requests contradict a count of none', () => {
  const notes = new ImportNotes();
  const stated = [statedDistribution(LATENCY, { n: 22, mean: 2 }), statedDistribution(LATENCY, { n: 0, mean: null })];
  expect(plausibleMeasures(stated, 0, notes)).toMatchObject([{ n: 22, mean: 2 }, { n: 0 }]);
  expect(notes.disagreements).toEqual(['request_latency: the file states 22 values, and 0 ok requests']);
});

test('a throughput of 0 without ok requests is true, and figures stay if their number is unknown', () => {
  const notes = new ImportNotes();
  expect(plausibleMeasures([statedScalar(RATE, 0)], 0, notes)).toMatchObject([{ value: 0 }]);
  expect(plausibleMeasures([statedDistribution(LATENCY, { n: null, mean: 2 })], null, notes)).toMatchObject([
    { mean: 2 },
  ]);
  expect(notes.lines).toEqual([]);
});

test('negative times and tokens are unknown; differences and delays between clocks may be negative', () => {
  const notes = new ImportNotes();
  const stated = [
    statedDistribution(LATENCY, { n: 9, mean: 1, percentiles: { p95: -1 } }),
    statedDistribution({ measure: 'schedule_delay', definition: 'due_to_sent', clock: 'due' }, { n: 9, min: -0.001 }),
    statedDistribution(
      { measure: 'output_length_difference_ratio', definition: 'output_minus_requested_over_requested_tokens' },
      { n: 9, mean: -0.1 },
    ),
  ];
  expect(plausibleMeasures(stated, 9, notes)).toMatchObject([
    { mean: 1, percentiles: { p95: { value: null } } },
    { min: -0.001 },
    { mean: -0.1 },
  ]);
  expect(notes.lines).toEqual(['1 × negative values read as unknown (first: request_latency p95)']);
});

test.each([
  ['a percentile above a higher one', { percentiles: { p50: 351, p90: 0.61 } }, 'p50 351, above p90 0.61 seconds'],
  ['a minimum above the maximum', { min: 2, max: 1 }, 'min 2, above max 1 seconds'],
  ['a mean below the minimum', { min: 2, mean: 1 }, 'min 2, above mean 1 seconds'],
  ['a mean above the maximum', { mean: 2, max: 1 }, 'mean 2, above max 1 seconds'],
])('%s contradicts itself', (_name, statistics, what) => {
  const notes = new ImportNotes();
  noteDisorder([statedDistribution(LATENCY, { n: 9, ...statistics })], notes);
  expect(notes.disagreements).toEqual([`request_latency: the file states ${what}`]);
});

test('equal and rounded statistics are in order', () => {
  const notes = new ImportNotes();
  const percentiles = { p50: 1, p90: 1, p99: 0.9995 };
  noteDisorder([statedDistribution(LATENCY, { n: 9, min: 1, mean: 1, max: 1, percentiles })], notes);
  noteDisorder([statedDistribution(LATENCY, { n: 9 }), statedScalar(RATE, 3)], notes);
  expect(notes.disagreements).toEqual([]);
});
