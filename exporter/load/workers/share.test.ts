import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { shareOf, shareWithin, WHOLE } from './share.ts';

const numbersBelow = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('shares', () => {
  test('the whole is one share', () => {
    expect(shareOf(7, WHOLE)).toBe(7);
  });

  test('seven slots in three parts: 0 3 6, 1 4 and 2 5', () => {
    expect([0, 1, 2].map((part) => shareOf(7, { part, parts: 3 }))).toEqual([3, 2, 2]);
    expect(shareOf(2, { part: 2, parts: 3 })).toBe(0);
  });

  test('every number is in one share of a share, and the sizes add up', () => {
    fc.assert(
      fc.property(
        fc.nat(200),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (count, shards, workers) => {
          const shares = numbersBelow(shards).flatMap((part) =>
            numbersBelow(workers).map((inner) => shareWithin({ part, parts: shards }, { part: inner, parts: workers })),
          );
          const owners = numbersBelow(count).map((n) => shares.filter(({ part, parts }) => n % parts === part).length);
          expect(owners).toEqual(numbersBelow(count).map(() => 1));
          expect(shares.reduce((sum, share) => sum + shareOf(count, share), 0)).toBe(count);
        },
      ),
    );
  });

  test('the workers of a shard have what the shard has', () => {
    fc.assert(
      fc.property(fc.nat(200), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (n, shards, workers) => {
        const shard = { part: n % shards, parts: shards };
        const isOwned = numbersBelow(workers).some((inner) => {
          const { part, parts } = shareWithin(shard, { part: inner, parts: workers });
          return n % parts === part;
        });
        expect(isOwned).toBe(true);
      }),
    );
  });
});
