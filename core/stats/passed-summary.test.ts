import { describe, expect, test } from '@jest/globals';
import { PassedSummary } from './passed-summary.ts';
import { percentile, PERCENTILE_NAMES, PERCENTILES, summarize } from './percentiles.ts';
import { sfc32 } from './seeded-random.ts';

function passed(values: readonly number[]): PassedSummary {
  const summary = new PassedSummary();
  for (let pass = 0; !summary.done; pass++) {
    // The order does not matter, and may be another each time.
    for (const value of pass % 2 === 0 ? values : values.toReversed()) summary.add(value);
    summary.endPass();
  }
  return summary;
}

/** By hand: a sort, and the definition of the percentile. */
function sortedPercentiles(values: readonly number[]): Record<string, number> {
  const sorted = values.toSorted((a, b) => a - b);
  return Object.fromEntries(PERCENTILE_NAMES.map((name) => [name, percentile(sorted, PERCENTILES[name])]));
}

const next = sfc32(7);
const random = (): number => next() / 2 ** 32;
const latencies = Array.from({ length: 5000 }, () => 0.04 + Math.round(random() ** 4 * 1e9) * 1e-9);

describe.each([
  ['latencies', latencies],
  ['counts of tokens, most of them the same', Array.from({ length: 3000 }, (_, i) => (i % 10 === 0 ? i : 128))],
  [
    'values of both signs and of all sizes',
    Array.from({ length: 999 }, () => (random() - 0.5) * 10 ** (random() * 40 - 20)),
  ],
  ['values that differ in the last bit', Array.from({ length: 500 }, (_, i) => 1 + (i % 250) * Number.EPSILON)],
  // More than are held, in steps that only the last bits distinguish.
  [
    'very many values that begin alike',
    Array.from({ length: 100_000 }, (_, i) => 1 + ((i * 7919) % 100_003) * 2 ** -52),
  ],
  ['very many of the same', Array.from({ length: 100_000 }, (_, i) => (i % 50_000 === 0 ? i : 512))],
  ['zeros', [0, -0, 0, 0]],
  ['one value', [3.25]],
])('%s', (_, values) => {
  const { finite, all } = passed(values);

  test('percentiles and extremes are those of the sorted values, to the last bit', () => {
    expect(finite?.percentiles).toEqual(sortedPercentiles(values.map((value) => value + 0)));
    expect([finite?.n, finite?.min, finite?.max]).toEqual([
      values.length,
      Math.min(...values.map((value) => value + 0)),
      Math.max(...values.map((value) => value + 0)),
    ]);
    expect(all).toEqual(finite);
  });

  test('mean and deviation are those of all values held at once', () => {
    const held = summarize(Float64Array.from(values));
    for (const statistic of ['mean', 'std'] as const) {
      const expected = held?.[statistic] ?? NaN;
      // Added up in another order, which rounds otherwise.
      expect(Math.abs((finite?.[statistic] ?? NaN) - expected)).toBeLessThanOrEqual(1e-12 * Math.abs(expected));
    }
  });
});

test('infinite values are the last of all, and not among the finite', () => {
  const { finite, all } = passed([4, Infinity, 1, 3, 2, Infinity]);
  expect(finite).toMatchObject({ n: 4, mean: 2.5, min: 1, max: 4, percentiles: { p50: 2.5 } });
  expect(all).toMatchObject({ n: 6, mean: Infinity, std: NaN, min: 1, max: Infinity });
  expect(all?.percentiles).toEqual(sortedPercentiles([1, 2, 3, 4, Infinity, Infinity]));
});

test('nothing but infinite values', () => {
  const { finite, all } = passed([Infinity, Infinity]);
  expect(finite).toBeNull();
  expect(all).toMatchObject({ n: 2, min: Infinity, percentiles: { p1: Infinity, p99_9: Infinity } });
});

test('without a value there is no summary', () => {
  const { finite, all } = passed([]);
  expect([finite, all]).toEqual([null, null]);
});

test('a missing value is refused', () => {
  expect(() => new PassedSummary().add(NaN)).toThrow(RangeError);
});

test('values that were not gone through often enough have no summary yet', () => {
  const summary = new PassedSummary();
  summary.add(1);
  summary.endPass();
  expect(() => summary.finite).toThrow('the values have to be gone through again, after 1 times');
});
