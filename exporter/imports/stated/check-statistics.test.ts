import { describe, expect, test } from '@jest/globals';
import { checkStatistics, FLOOR_RANK, NUMPY_LINEAR } from './check-statistics.ts';
import { ImportNotes } from '../import-notes.ts';

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
