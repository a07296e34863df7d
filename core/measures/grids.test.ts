import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { LiveQuantity } from './grids.ts';
import { LIVE_GRIDS, LIVE_QUANTITIES, MAX_GRID_BOUNDS, liveGrid } from './grids.ts';

interface EngineHistogram {
  readonly file: string;
  readonly family: string;
  readonly quantity: LiveQuantity;
  readonly unit: 'seconds' | 'milliseconds';
  readonly buckets: readonly number[];
}

interface CatalogFamily {
  readonly name: string;
  readonly unit: string;
  readonly buckets?: readonly number[] | string;
}

const fixture = JSON.parse(
  readFileSync(new URL('fixtures/engine-default-buckets.json', import.meta.url), 'utf8'),
) as readonly EngineHistogram[];

const catalog = new URL('../../catalog/', import.meta.url);

describe('the live grids', () => {
  test.each(LIVE_QUANTITIES)('%s: ascending, unique, at most 120 bounds', (quantity) => {
    const grid = LIVE_GRIDS[quantity];
    expect(grid.length).toBeLessThanOrEqual(MAX_GRID_BOUNDS);
    expect(grid.slice(1).every((bound, i) => bound > (grid[i] ?? Infinity))).toBe(true);
  });

  test.each([
    ['time_to_first_token', 0.001, 640],
    ['inter_token_latency', 0.00025, 10],
    ['inter_chunk_latency', 0.0001, 10],
    ['request_latency', 0.005, 600],
    ['schedule_delay', 0.0001, 600],
    ['client_event_loop_delay', 0.0001, 5],
  ] as const)(
    '%s: from %d to %d s no step is wider than a quarter octave, none narrower than 4 %%',
    (quantity, low, high) => {
      const inside = LIVE_GRIDS[quantity].filter((bound) => bound >= low && bound <= high);
      expect(inside[0]).toBe(low);
      expect(inside.at(-1)).toBe(high);
      const ratios = inside.slice(1).map((bound, i) => bound / (inside[i] ?? NaN));
      // 2^(1/4) = 1.1892, and three significant digits move a bound by at most half a percent.
      expect(Math.max(...ratios)).toBeLessThan(1.1892 * 1.005);
      expect(Math.min(...ratios)).toBeGreaterThan(1.04);
    },
  );

  test.each(fixture.map((engine) => [engine.family, engine.quantity, engine] as const))(
    '%s re-buckets exactly: each of its bounds is one of %s',
    (_family, quantity, engine) => {
      const seconds = engine.buckets.map((bound) => (engine.unit === 'milliseconds' ? bound / 1000 : bound));
      expect(seconds.filter((bound) => !LIVE_GRIDS[quantity].includes(bound))).toEqual([]);
    },
  );

  test.each(fixture.map((engine) => [engine.file, engine.family, engine] as const))(
    'the fixture is what the catalog says: %s, %s',
    (file, name, { unit, buckets }) => {
      const { families } = parse(readFileSync(new URL(file, catalog), 'utf8')) as { families: CatalogFamily[] };
      expect(families.find((family) => family.name === name)).toMatchObject({ unit, buckets });
    },
  );
});

describe('liveGrid', () => {
  test('an octave gets four steps, by hand 2^(1/4), 2^(1/2), 2^(3/4)', () => {
    expect(liveGrid([], 1, 2)).toEqual([1, 1.19, 1.41, 1.68, 2]);
  });

  test('an engine bound is kept and the gaps beside it are split evenly', () => {
    // 1 → 1.3 is 0.379 octaves: two steps of √1.3; 1.3 → 2 is 0.621 octaves: three of (2/1.3)^(1/3)
    expect(liveGrid([[1.3]], 1, 2)).toEqual([1, 1.14, 1.3, 1.5, 1.73, 2]);
  });

  test('outside low to high only the engine bounds stand', () => {
    expect(liveGrid([[0, 0.1, 1, 100]], 1, 1.18)).toEqual([0, 0.1, 1, 1.18, 100]);
  });
});
