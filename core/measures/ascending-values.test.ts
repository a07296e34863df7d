import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ascendingValues, MemoryShelf, type RepeatableValues, type BlockShelf } from './ascending-values.ts';

const valuesOf = (all: readonly number[]): RepeatableValues => ({
  length: all.length,
  each: (visit) => all.forEach(visit),
});
const ascending = (a: number, b: number): number => a - b;

describe('values in ascending order', () => {
  test('are those that sorting gives, in parts of any size', () => {
    const values = fc.array(fc.oneof(fc.integer({ min: -50, max: 50 }), fc.maxSafeInteger()), { maxLength: 60 });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5 }), (all, held, block) => {
        const sorted = [...ascendingValues(valuesOf(all), new MemoryShelf(), block, held)];
        expect(sorted).toEqual([...all].sort(ascending));
      }),
    );
  });

  test('beyond the limit lie on the shelf but for a block of each part', () => {
    const all = Array.from({ length: 10_000 }, (_, i) => (i * 7919) % 10_000);
    const shelf = new MemoryShelf();
    let blocks = 0;
    const counting: BlockShelf = {
      put: (block) => {
        blocks += 1;
        shelf.put(block);
      },
      block: (n) => shelf.block(n),
    };
    const sorted = ascendingValues(valuesOf(all), counting, 100, 1000);
    expect([...sorted]).toEqual(all.map((_, i) => i));
    // Ten parts of at most 1000 values, of which at most 99 are in an open block.
    expect(blocks).toBeGreaterThanOrEqual(80);
  });
});
