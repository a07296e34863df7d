import { describe, expect, test } from '@jest/globals';
import type { ClassicHistogram } from '../histogram/classic-histogram.ts';
import { differences } from './histogram-differences.ts';
import { windowDifferences } from './window.ts';

/** A histogram with bounds 1 and +Inf and a sum of twice its total. */
function h(low: number, all: number, bounds: readonly number[] = [1, Infinity]): ClassicHistogram {
  return { bounds, counts: [low, all], sum: 2 * all };
}
const samples = (...histograms: (ClassicHistogram | null)[]) =>
  histograms.map((histogram, i) => ({ timeMs: i * 1000, histogram }));
const step = (from: number) => ({ fromMs: from * 1000, toMs: from * 1000 + 1000, reset: false, gridChanged: false });
const other = [2, Infinity];

describe('differences', () => {
  test('are between neighbours', () => {
    expect(differences(samples(h(1, 2), h(3, 5), h(3, 9)))).toEqual([
      { ...step(0), histogram: h(2, 3) },
      { ...step(1), histogram: h(0, 4) },
    ]);
  });

  test('mark a reset and count from 0 after it', () => {
    expect(differences(samples(h(4, 8), h(1, 2), h(1, 3)))).toEqual([
      { ...step(0), histogram: h(1, 2), reset: true },
      { ...step(1), histogram: h(0, 1) },
    ]);
  });

  test('leave a gap around a missing sample', () => {
    expect(differences(samples(h(1, 2), null, h(3, 5), h(4, 6)))).toEqual([
      { ...step(0), histogram: null },
      { ...step(1), histogram: null },
      { ...step(2), histogram: h(1, 1) },
    ]);
  });

  test('leave a marked gap where the grid changes, also across a missing sample', () => {
    expect(differences(samples(h(1, 2), h(3, 5, other), h(4, 6, other), null, h(5, 7)))).toEqual([
      { ...step(0), histogram: null, gridChanged: true },
      { ...step(1), histogram: h(1, 1, other) },
      { ...step(2), histogram: null },
      { ...step(3), histogram: null, gridChanged: true },
    ]);
  });

  test('need two samples', () => {
    expect(differences([])).toEqual([]);
    expect(differences(samples(h(1, 2)))).toEqual([]);
  });
});

describe('windowDifferences', () => {
  test('is the end less the start when nothing happened in between', () => {
    expect(windowDifferences(samples(h(1, 2), h(3, 5), h(3, 9)))).toEqual([
      { fromMs: 0, toMs: 2000, histogram: h(2, 7), resets: 0 },
    ]);
  });

  test('adds up what was counted before and after a reset', () => {
    // (4, 8) -> (6, 10): 2, 2; reset to (1, 2): 1, 2; (1, 5): 0, 3
    expect(windowDifferences(samples(h(4, 8), h(6, 10), h(1, 2), h(1, 5)))).toEqual([
      { fromMs: 0, toMs: 3000, histogram: h(3, 7), resets: 1 },
    ]);
  });

  test('goes over missing samples', () => {
    expect(windowDifferences(samples(null, h(1, 2), null, h(3, 5), null))).toEqual([
      { fromMs: 1000, toMs: 3000, histogram: h(2, 3), resets: 0 },
    ]);
  });

  test('is cut where the grid changes (R-067)', () => {
    expect(windowDifferences(samples(h(1, 2), h(2, 4), h(3, 5, other), h(4, 9, other)))).toEqual([
      { fromMs: 0, toMs: 1000, histogram: h(1, 2), resets: 0 },
      { fromMs: 2000, toMs: 3000, histogram: h(1, 4, other), resets: 0 },
    ]);
  });

  test('has no stretch of a single sample', () => {
    expect(windowDifferences(samples(h(1, 2), h(3, 5, other), h(4, 9, other)))).toHaveLength(1);
    expect(windowDifferences(samples(h(1, 2)))).toEqual([]);
    expect(windowDifferences([])).toEqual([]);
  });

  test('counts the first sample of a series that began at 0', () => {
    expect(windowDifferences(samples(null, h(1, 2), h(3, 5)), { bornAtZero: true })).toEqual([
      { fromMs: 1000, toMs: 2000, histogram: h(3, 5), resets: 0 },
    ]);
    expect(windowDifferences(samples(null, h(1, 2)), { bornAtZero: true })).toEqual([
      { fromMs: 1000, toMs: 1000, histogram: h(1, 2), resets: 0 },
    ]);
  });
});
