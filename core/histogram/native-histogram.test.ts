import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseProtobuf } from '../exposition/index.ts';
import { quantileBounds } from './bounds.ts';
import { histogramDelta, type ClassicHistogram } from './classic-histogram.ts';
import {
  classicOfNative,
  onCommonGrid,
  coarserIndex,
  exponentialBound,
  exponentialQuantile,
  CUSTOM_BUCKETS_SCHEMA,
  type NativeBucket,
  type NativeHistogram,
} from './native-histogram.ts';

/** A histogram as a client library would make it, by the definition of the buckets. */
function observed(values: readonly number[], schema: number, zeroThreshold: number): NativeHistogram {
  const positive = values.filter((value) => value > zeroThreshold);
  const negative = values.filter((value) => value < -zeroThreshold).map((value) => -value);
  const side = (all: readonly number[], sign: 1 | -1): NativeBucket[] => {
    const counts = new Map<number, number>();
    for (const value of all) {
      let index = Math.ceil(Math.log2(value) * 2 ** schema) - 2;
      while (value > exponentialBound(index, schema)) index++;
      counts.set(index, (counts.get(index) ?? 0) + 1);
    }
    return [...counts]
      .sort(([a], [b]) => a - b)
      .map(([index, count]) => {
        const edges = [exponentialBound(index - 1, schema), exponentialBound(index, schema)].map((edge) => sign * edge);
        return { index, count, low: Math.min(...edges), high: Math.max(...edges) };
      });
  };
  return {
    schema,
    zeroThreshold,
    zeroCount: values.length - positive.length - negative.length,
    count: values.length,
    sum: values.reduce((sum, value) => sum + value, 0),
    positive: side(positive, 1),
    negative: side(negative, -1),
    customBounds: null,
  };
}

const schemas = fc.integer({ min: -4, max: 8 });
const thresholds = fc.constantFrom(0, 1e-9, 0.001, 0.3, 2);
/** Below it doubles lose their precision: the bounds of fine buckets round onto each other and do not nest any more. */
const MIN_NORMAL = 2 ** -1022;
const latency = fc.oneof(fc.constant(0), fc.double({ min: MIN_NORMAL, max: 1e6, noNaN: true }));
const latencies = fc.array(latency, { minLength: 1, maxLength: 40 });
const anyValues = fc.array(fc.double({ min: -1e4, max: 1e4, noNaN: true }), { minLength: 1, maxLength: 40 });
const quantiles = fc.constantFrom(0, 0.1, 0.5, 0.9, 0.99, 1);

/** Linear between order statistics. */
function percentile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = (sorted.length - 1) * q;
  const below = sorted[Math.floor(rank)] ?? NaN;
  return below + ((sorted[Math.ceil(rank)] ?? NaN) - below) * (rank - Math.floor(rank));
}

function expectWithin(value: number, q: number, h: ClassicHistogram): void {
  const bounds = quantileBounds(q, h);
  expect(value).toBeGreaterThanOrEqual(bounds?.low ?? NaN);
  expect(value).toBeLessThanOrEqual(bounds?.high ?? NaN);
}

describe('the zero bucket beside a side whose buckets are all empty', () => {
  // Prometheus, promql/quantile.go, HistogramQuantile: the zero bucket is cut at 0 only when a side has no buckets.
  const emptied = (h: NativeHistogram, side: 'positive' | 'negative'): NativeHistogram => ({
    ...h,
    [side]: [{ index: 0, low: side === 'positive' ? 0.5 : -1, high: side === 'positive' ? 1 : -0.5, count: 0 }],
  });

  test('reaches across 0', () => {
    const positive = observed([0, 0, 0, 0.7], 0, 0.25);
    expect(exponentialQuantile(0.375, classicOfNative(positive))).toBeCloseTo(0.125, 12);
    expect(exponentialQuantile(0.375, classicOfNative(emptied(positive, 'negative')))).toBeCloseTo(0, 12);
    const negative = observed([0, 0, 0, -0.7], 0, 0.25);
    expect(exponentialQuantile(0.625, classicOfNative(negative))).toBeCloseTo(-0.125, 12);
    expect(exponentialQuantile(0.625, classicOfNative(emptied(negative, 'positive')))).toBeCloseTo(0, 12);
  });
});

describe('bounds', () => {
  test.each([
    // Prometheus, model/histogram/generic_test.go, TestGetBoundExponential.
    [-1, -4, 2 ** -16],
    [0, -4, 1],
    [1, -4, 65536],
    [512, -1, Number.MAX_VALUE],
    [513, -1, Infinity],
    [-1, 0, 0.5],
    [1024, 0, Number.MAX_VALUE],
    [1025, 0, Infinity],
    [-1, 2, 0.8408964152537144],
    [0, 2, 1],
    [1, 2, 1.189207115002721],
    [2, 2, 1.414213562373095],
    [4096, 2, Number.MAX_VALUE],
    [4097, 2, Infinity],
  ])('bucket %d of schema %d ends at %d', (index, schema, bound) => {
    expect(exponentialBound(index, schema)).toBe(bound);
  });

  test('a coarser bucket holds the finer one', () => {
    fc.assert(
      fc.property(fc.integer({ min: -3000, max: 3000 }), schemas, schemas, (index, a, b) => {
        const [coarse, fine] = [Math.min(a, b), Math.max(a, b)];
        const at = coarserIndex(index, fine, coarse);
        expect(exponentialBound(at - 1, coarse)).toBeLessThanOrEqual(exponentialBound(index - 1, fine));
        expect(exponentialBound(at, coarse)).toBeGreaterThanOrEqual(exponentialBound(index, fine));
      }),
    );
  });
});

describe('as classic histograms', () => {
  test('by hand: a gap, a zero bucket and values below 0', () => {
    const h = observed([-3, -3, 0, 0.5, 6, 7], 0, 0.25);
    expect(classicOfNative(h)).toEqual({
      bounds: [-4, -2, -0.25, 0.25, 0.5, 4, 8, Infinity],
      counts: [0, 2, 2, 3, 4, 4, 6, 6],
      sum: 7.5,
    });
    expect(classicOfNative(observed([0, 0.5, 6], 0, 0.25))).toMatchObject({
      bounds: [0.25, 0.5, 4, 8, Infinity],
      counts: [1, 2, 2, 3, 3],
    });
  });

  test('by hand: custom buckets', () => {
    const h: NativeHistogram = {
      ...observed([], 0, 0),
      schema: CUSTOM_BUCKETS_SCHEMA,
      count: 6,
      sum: 9,
      positive: [
        { index: 0, low: -Infinity, high: 1, count: 2 },
        { index: 2, low: 5, high: Infinity, count: 4 },
      ],
      customBounds: [1, 5],
    };
    expect(classicOfNative(h)).toEqual({ bounds: [1, 5, Infinity], counts: [2, 2, 6], sum: 9 });
    expect(onCommonGrid([h, { ...h, customBounds: [1, 6] }])).toBeNull();
    expect(onCommonGrid([h, observed([1], 0, 0)])).toBeNull();
  });

  test('none observed', () => {
    expect(classicOfNative(observed([], 3, 0))).toEqual({ bounds: [Infinity], counts: [0], sum: 0 });
    expect(exponentialQuantile(0.5, classicOfNative(observed([], 3, 0)))).toBeNaN();
  });

  test('the bounds hold the percentile and the estimate', () => {
    fc.assert(
      fc.property(fc.oneof(latencies, anyValues), schemas, thresholds, quantiles, (values, schema, threshold, q) => {
        const h = classicOfNative(observed(values, schema, threshold));
        const negative = values.some((value) => value < 0);
        // A zero bucket beside positive buckets is taken to hold no negative values.
        if (negative && !values.some((value) => value < -threshold)) return;
        expectWithin(percentile(values, q), q, h);
        expectWithin(exponentialQuantile(q, h), q, h);
      }),
      { numRuns: 1000 },
    );
  });

  test('what came between two scrapes, with any schemas and zero buckets', () => {
    fc.assert(
      fc.property(
        fc.tuple(latencies, latencies),
        fc.tuple(schemas, schemas),
        fc.tuple(thresholds, thresholds),
        quantiles,
        ([first, more], [schemaA, schemaB], [zeroA, zeroB], q) => {
          const start = observed(first, schemaA, zeroA);
          const end = observed([...first, ...more], schemaB, zeroB);
          const [a, b] = onCommonGrid([start, end]) ?? [];
          if (a === undefined || b === undefined) throw new Error('no common grid');
          expect(a.bounds).toEqual(b.bounds);
          const delta = histogramDelta({ ...a, sum: null }, { ...b, sum: null });
          expect(delta?.reset).toBe(false);
          expect(delta?.histogram.counts.at(-1)).toBe(more.length);
          if (delta) expectWithin(percentile(more, q), q, delta.histogram);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

test('the scrapes of a limited histogram of client_golang, whose schema becomes coarser', () => {
  const fixture = (name: string): Uint8Array =>
    readFileSync(new URL(`../exposition/protobuf/fixtures/${name}`, import.meta.url));
  const values = JSON.parse(new TextDecoder().decode(fixture('limited-values.json'))) as number[];
  const scrapes = [1, 2, 3].map((n) => parseProtobuf(fixture(`limited-${n}.pb`)).nativeHistograms[0]?.histogram);
  expect(scrapes.map((h) => h?.schema)).toEqual([2, 2, 1]);
  const grids = onCommonGrid(scrapes.filter((h) => h !== undefined)) ?? [];
  for (const [from, to] of [
    [0, 1],
    [0, 2],
    [1, 2],
  ] as const) {
    const [start, end] = [grids[from], grids[to]];
    if (start === undefined || end === undefined) throw new Error('no common grid');
    const delta = histogramDelta(start, end);
    const between = values.slice(40 * (from + 1), 40 * (to + 1));
    expect(delta).toMatchObject({ reset: false });
    expect(delta?.histogram.sum).toBeCloseTo(
      between.reduce((sum, value) => sum + value, 0),
      9,
    );
    for (const q of [0, 0.25, 0.5, 0.9, 1]) if (delta) expectWithin(percentile(between, q), q, delta.histogram);
  }
});
