import { describe, expect, test } from '@jest/globals';
import { energyFromCounter, energyFromPower, type GpuReading } from './gpu-energy.ts';

const readings = (...pairs: readonly (readonly [at_seconds: number, value: number])[]): GpuReading[] =>
  pairs.map(([at_seconds, value]) => ({ at_seconds, value }));
const window = (start_seconds: number, end_seconds: number) => ({ start_seconds, end_seconds });

describe('from a counter', () => {
  test('linear between the readings', () => {
    // 350 J at 5 s, 1100 J at 15 s.
    const found = energyFromCounter(readings([0, 100], [10, 600], [20, 1600]), window(5, 15));
    expect(found).toEqual({ joules: 750, resolution_seconds: 10 });
  });

  test('an edge that no reading reaches is extrapolated from the nearest two', () => {
    // 100 W: 100 J at 5 s, 2100 J at 25 s.
    const found = energyFromCounter(readings([10, 600], [20, 1600]), window(5, 25));
    expect(found).toEqual({ joules: 2000, resolution_seconds: 10 });
  });

  test('the readings outside the window do not set the resolution', () => {
    const found = energyFromCounter(readings([0, 0], [30, 30], [31, 31], [32, 32], [33, 33]), window(30, 33));
    expect(found).toEqual({ joules: 3, resolution_seconds: 1 });
  });

  test.each([
    ['no reading', readings(), window(0, 10)],
    ['one reading', readings([5, 100]), window(0, 10)],
    ['a counter that decreased', readings([0, 100], [5, 20], [10, 120]), window(0, 10)],
    ['readings that end long before the window does', readings([0, 0], [10, 100]), window(5, 21)],
    ['readings that begin long after the window does', readings([11, 0], [21, 100]), window(0, 20)],
    ['a window without length', readings([0, 0], [10, 100]), window(5, 5)],
  ])('null: %s', (_name, changes, over) => {
    expect(energyFromCounter(changes, over)).toBeNull();
  });
});

describe('from the power', () => {
  test('trapezoids, cut at the edges of the window', () => {
    // From 200 W at 5 s to 300 W at 10 s: 1250 J; then 300 W for 5 s: 1500 J.
    const found = energyFromPower(readings([0, 100], [10, 300], [20, 300]), window(5, 15));
    expect(found).toEqual({ joules: 2750, resolution_seconds: 10 });
  });

  test('the first and the last reading hold up to the edges', () => {
    // 100 J + 300 J + 200 J.
    expect(energyFromPower(readings([1, 100], [3, 200]), window(0, 4))?.joules).toBe(600);
  });

  test('a window between two readings', () => {
    // From 120 W to 180 W in 6 s.
    expect(energyFromPower(readings([0, 100], [10, 200]), window(2, 8))?.joules).toBe(900);
  });

  test('null: one reading, or readings that do not reach the window', () => {
    expect(energyFromPower(readings([5, 100]), window(0, 10))).toBeNull();
    expect(energyFromPower(readings([0, 100], [1, 100]), window(5, 10))).toBeNull();
  });
});
