import { describe, expect, test } from '@jest/globals';
import { monotonic } from './monotonic.ts';

const h = (...counts: number[]) => ({ bounds: [1, 2, 3, Infinity].slice(4 - counts.length), counts, sum: null });

describe('monotonic', () => {
  test('returns counts that never go down as they are', () => {
    const input = h(1, 1, 5, 9);
    expect(monotonic(input)).toEqual({ histogram: input, forced: false });
    expect(monotonic(input).histogram).toBe(input);
  });

  test('raises a count to the running maximum and reports it', () => {
    const { histogram, forced } = monotonic(h(7, 5, 9, 8));
    expect(histogram.counts).toEqual([7, 7, 9, 9]);
    expect(forced).toBe(true);
  });

  // Prometheus: |a - b| / (|a| + |b|) < 1e-12 is noise. 1e-12 / 20 = 5e-14 is; 1e-9 / 20 = 5e-11 is not.
  test('repairs rounding noise in either direction without a mark', () => {
    expect(monotonic(h(10, 10 - 1e-12, 20))).toMatchObject({ histogram: { counts: [10, 10, 20] }, forced: false });
    expect(monotonic(h(10, 10 + 1e-12, 20))).toMatchObject({ histogram: { counts: [10, 10, 20] }, forced: false });
    expect(monotonic(h(10, 10 - 1e-9, 20)).forced).toBe(true);
    expect(monotonic(h(10, 10 + 1e-9, 20)).histogram.counts[1]).toBe(10 + 1e-9);
  });

  test('with tolerance 0 keeps every rise and forces every dip', () => {
    expect(monotonic(h(10, 10 + 1e-12, 20), 0).histogram.counts[1]).toBe(10 + 1e-12);
    expect(monotonic(h(10, 10 - 1e-12, 20), 0)).toMatchObject({ histogram: { counts: [10, 10, 20] }, forced: true });
  });

  test('does not change its input', () => {
    const input = h(7, 5, 9, 8);
    monotonic(input);
    expect(input.counts).toEqual([7, 5, 9, 8]);
  });
});
