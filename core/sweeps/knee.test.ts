import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { kneeOf, type CurvePoint } from './knee.ts';

const points = (x: readonly number[], y: readonly number[]): CurvePoint[] =>
  x.map((each, i) => ({ x: each, y: y[i] ?? NaN }));

test('calculated by hand: the largest rise above the diagonal, from which it falls by more than a mean step', () => {
  // Normalized x: 0, 1/15, 3/15, 7/15, 1; y: 0, 10/36, 30/36, 35/36, 1. Differences: 0, .211, .633, .506, 0; .633 − 1/4 = .383.
  expect(kneeOf(points([1, 2, 4, 8, 16], [10, 20, 40, 45, 46]))).toBe(2);
});

test.each([
  ['a straight line', [1, 2, 3, 4, 5], [10, 20, 30, 40, 50]],
  ['a curve that rises ever faster', [1, 2, 3, 4, 5], [1, 4, 9, 16, 25]],
  // Differences: 0, .071, 0; the threshold .071 − 1/2 is below both.
  ['a bend that is smaller than a step', [1, 2, 3], [10, 18, 24]],
  ['no change', [1, 2, 3], [7, 7, 7]],
  ['a fall', [1, 2, 3], [9, 5, 1]],
  ['two points', [1, 2], [1, 2]],
  ['no points', [], []],
])('%s has no knee', (_, x, y) => {
  expect(kneeOf(points(x, y))).toBeNull();
});

interface Peer {
  readonly cases: readonly { readonly x: number[]; readonly y: number[]; readonly knee: number | null }[];
}

describe('the same knee as kneed', () => {
  const { cases } = JSON.parse(readFileSync(new URL('fixtures/kneed.json', import.meta.url), 'utf8')) as Peer;
  test.each(cases.map((each, i) => [i, each] as const))('case %i', (_, { x, y, knee }) => {
    const place = kneeOf(points(x, y));
    expect(place === null ? null : x[place]).toBe(knee);
  });
});

test('does not depend on the units of either axis', () => {
  const curve = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 3, maxLength: 12 });
  // Powers of two scale without rounding.
  const scale = fc.constantFrom(0.25, 2, 1024);
  fc.assert(
    fc.property(curve, scale, scale, (ys, a, b) => {
      const plain = ys.map((y, i) => ({ x: 2 ** i, y }));
      const scaled = plain.map(({ x, y }) => ({ x: x * a, y: y * b }));
      expect(kneeOf(scaled)).toBe(kneeOf(plain));
    }),
  );
});
