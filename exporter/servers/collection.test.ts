import { expect, test } from '@jest/globals';
import { collectionOfStores, targetResult } from './collection.ts';
import type { TargetStore } from './series/target-store.ts';
import { pagesOf, replay } from './testing/replay.ts';

test('buckets that change in a living process are noted', () => {
  const page = (buckets: string): string =>
    `process_start_time_seconds 100\n# TYPE h histogram\n${buckets}\nh_bucket{le="+Inf"} 1005\nh_sum 900\nh_count 1005`;
  const store = replay(pagesOf(page('h_bucket{le="1"} 400'), page('h_bucket{le="0.5"} 300\nh_bucket{le="1"} 400')));
  expect(notesOf(store)).toEqual([
    'the buckets of histograms on its page changed, and each set of them is reported by itself: h',
  ]);
});

test('series that appear although they are older are noted', () => {
  const page = 'up 1\n# TYPE x_total counter\nx_total 500\n# TYPE x_created gauge\nx_created -3600';
  expect(notesOf(replay(pagesOf('up 1', page)))).toEqual([
    'appeared late on its page, so that their earlier counts are unknown: x_total',
  ]);
});

function notesOf(store: TargetStore): readonly string[] {
  const options = {
    zeroWall_ns: 0n,
    window: { start_ns: 0, end_ns: 1e9 },
    interval_ns: 1e9,
    slice_ns: null,
    definitions: 'llmbench',
  } as const;
  const collection = collectionOfStores([{ name: 'http://server/metrics', system: null, store }], options);
  return collection.targets.flatMap((target) => targetResult(collection, target).notes);
}
