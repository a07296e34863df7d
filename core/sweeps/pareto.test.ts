import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { paretoFrontier, type Tradeoff } from './pareto.ts';

test('keeps what nothing beats, by ascending x', () => {
  const [a, b, c, d] = [
    { x: 10, y: 1 },
    { x: 5, y: 5 },
    { x: 5, y: 4 },
    { x: 1, y: 9 },
  ] as const;
  expect(paretoFrontier([c, a, d, b])).toEqual([d, b, a]);
});

test('of points with the same y only the one with the larger x', () => {
  expect(
    paretoFrontier([
      { x: 1, y: 5 },
      { x: 2, y: 5 },
    ]),
  ).toEqual([{ x: 2, y: 5 }]);
});

const dominates = (a: Tradeoff, b: Tradeoff): boolean => a.x >= b.x && a.y >= b.y && (a.x > b.x || a.y > b.y);

test('holds exactly the points that no other one dominates', () => {
  const point = fc.record({ x: fc.integer({ min: 0, max: 9 }), y: fc.integer({ min: 0, max: 9 }) });
  fc.assert(
    fc.property(fc.array(point, { maxLength: 40 }), (points) => {
      const expected = points.filter((each) => !points.some((other) => dominates(other, each)));
      const frontier = paretoFrontier(points);
      expect(new Set(frontier)).toEqual(new Set(expected));
      expect(frontier).toHaveLength(expected.length);
      expect(frontier.map(({ x }) => x)).toEqual([...frontier.map(({ x }) => x)].sort((a, b) => a - b));
    }),
    { numRuns: 300 },
  );
});
