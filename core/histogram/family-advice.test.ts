import { expect, test } from '@jest/globals';
import { familyAdvice, type ObservedSeries } from './family-advice.ts';

/** Counts per bucket, the last above the last bound. */
function series(labels: Record<string, string>, bounds: number[], perBucket: number[], exact = true): ObservedSeries {
  let sum = 0;
  const counts = perBucket.map((count) => (sum += count));
  return { family: 'latency', labels, histogram: { bounds: [...bounds, Infinity], counts, sum: null }, exact };
}

const seconds = (): string => 'seconds';

test('adds the series of the parts of a server, which share their bounds', () => {
  const [advice] = familyAdvice(
    [
      series({ model: 'm', engine: '0' }, [1, 2], [100, 0, 0]),
      series({ model: 'm', engine: '1' }, [1, 2], [0, 100, 0]),
    ],
    seconds,
  );
  expect(advice?.groups).toHaveLength(1);
  expect(advice?.groups[0]).toMatchObject({ labels: { model: 'm' }, n: 200, exact: true });
  // p50 lies between rank 100 in (0, 1] and rank 101 in (1, 2]: both are divided, for both engines.
  expect(advice?.divided.map(({ bound }) => bound)).toEqual([0.5, 1.5]);
  // 2 × (3 buckets, sum, count), and 2 bounds for each of the 2 series
  expect(advice).toMatchObject({ series: 10, seriesAdded: 4, missingAbove: null });
});

test('keeps other labels and other bounds apart, and joins what they need', () => {
  const [advice] = familyAdvice(
    [
      series({ stage: 'decode' }, [1, 2], [10, 0, 0]),
      series({ stage: 'prefill' }, [1, 2], [0, 20, 0]),
      series({ stage: 'prefill' }, [1, 4], [0, 0, 30]),
    ],
    seconds,
  );
  expect(advice?.groups.map(({ labels, n }) => [labels['stage'], n])).toEqual([
    ['prefill', 30],
    ['prefill', 20],
    ['decode', 10],
  ]);
  expect(advice).toMatchObject({ bounds: [1, 2, 4], missingAbove: 4 });
  expect(advice?.divided.map(({ bound }) => bound)).toEqual([0.5, 1.5]);
});

test('a group with an extrapolated series is not exact', () => {
  const [advice] = familyAdvice(
    [series({ rank: '0' }, [1], [1, 0]), series({ rank: '1' }, [1], [0.5, 0.5], false)],
    seconds,
  );
  expect(advice?.groups[0]?.exact).toBe(false);
});

test('a family without observations has its bounds and no advice', () => {
  const [advice] = familyAdvice([series({}, [1, 2], [0, 0, 0])], seconds);
  expect(advice).toMatchObject({ groups: [], bounds: [1, 2], divided: [], series: 5, seriesAdded: 0 });
});

test('whole numbers are counted', () => {
  const [advice] = familyAdvice([series({}, [1, 2], [0, 50, 0])], () => 'tokens');
  expect(advice?.groups[0]?.intervals.p50?.width).toBe(0);
  expect(advice?.divided).toEqual([]);
});
