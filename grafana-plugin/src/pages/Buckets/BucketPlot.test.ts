import { labeledBounds, plotScale } from './BucketPlot.tsx';

const scaleOf = (bounds: number[], perBucket: number[]) => {
  let sum = 0;
  const counts = perBucket.map((count) => (sum += count));
  const scale = plotScale({ bounds: [...bounds, Infinity], counts, sum: null });
  if (scale === null) {
    throw new Error('no scale');
  }
  return scale;
};

test('shows the buckets with observations and one on either side, on a logarithmic axis', () => {
  const { buckets, bounds, position } = scaleOf([1, 10, 100, 1000, 10_000], [0, 0, 5, 0, 0, 0]);
  expect(buckets).toEqual([
    { low: 1, high: 10, count: 0 },
    { low: 10, high: 100, count: 5 },
    { low: 100, high: 1000, count: 0 },
  ]);
  expect(bounds).toEqual([1, 10, 100, 1000]);
  expect(position(10)).toBeCloseTo(1 / 3, 12);
  expect([position(0.5), position(5000)]).toEqual([0, 1]);
});

test('leaves room for the first bucket and for the one above the last bound', () => {
  const { bounds, position } = scaleOf([1, 2], [1, 0, 1]);
  expect(bounds).toEqual([1, 2]);
  expect(position(1)).toBeGreaterThan(0);
  expect(position(0.5)).toBeCloseTo(position(1) / 2, 12);
  expect(position(2)).toBeLessThan(1);
  expect([position(0), position(Infinity)]).toEqual([0, 1]);
});

test('is null without observations', () => {
  expect(plotScale({ bounds: [1, Infinity], counts: [0, 0], sum: null })).toBeNull();
});

test('leaves out texts of bounds that are too close', () => {
  const scale = scaleOf([1, 1.1, 10, 100], [0, 1, 1, 1, 0]);
  expect(labeledBounds(scale, 0.1)).toEqual([1, 10, 100]);
});
