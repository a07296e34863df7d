import { expect, test } from '@jest/globals';
import { seededRandom } from '../../core/stats/seeded-random.ts';
import { KvRouter } from './backend.ts';

const OPTIONS = { blockSize: 4, numKvBlocks: 8, random: seededRandom(3), hotWorker: null };

function twoWorkers(options: Partial<ConstructorParameters<typeof KvRouter>[0]> = {}): KvRouter {
  const router = new KvRouter({ ...OPTIONS, ...options });
  router.add(0);
  router.add(1);
  return router;
}

const request = (id: string, hashes: readonly number[], outputTokens = 4) => ({
  id,
  arrival_ns: 0,
  promptTokens: 4 * hashes.length,
  promptBlockHashes: hashes,
  outputTokens,
});

test('a prompt goes where its beginning is, unless that worker has more to do than the beginning saves', () => {
  const router = twoWorkers();
  const first = router.choose(request('a', [1, 2, 3]));
  expect(first).toMatchObject({ overlapBlocks: 0, promptBlocks: 3 });
  router.ended('a');
  expect(router.choose(request('b', [1, 2, 4]))).toEqual({
    worker: first?.worker,
    overlapBlocks: 2,
    mostOverlapBlocks: 2,
    promptBlocks: 3,
  });
  // Now that worker has 4 blocks in work: 1 + 4 there, 3 at the other.
  expect(router.choose(request('c', [1, 2, 5]))).toMatchObject({
    worker: 1 - (first?.worker ?? NaN),
    overlapBlocks: 0,
    mostOverlapBlocks: 2,
  });
});

test('what a worker has not the room for is forgotten, the oldest first', () => {
  const router = twoWorkers();
  router.remove(1);
  router.choose(request('a', [1, 2, 3, 4]));
  router.choose(request('b', [11, 12, 13, 14, 15, 16]));
  expect(router.choose(request('c', [1, 2, 3, 4]))).toMatchObject({ overlapBlocks: 0, mostOverlapBlocks: 0 });
});

test('a hot worker gets its share and the others the rest; without workers there is no choice', () => {
  const router = twoWorkers({ hotWorker: { worker: 1, share: 1 } });
  const workers = Array.from({ length: 9 }, (_, i) => router.choose(request(`r${i}`, [i]))?.worker);
  expect(new Set(workers)).toEqual(new Set([1]));
  router.remove(1);
  expect(router.choose(request('x', [1]))?.worker).toBe(0);
  router.remove(0);
  expect(router.choose(request('y', [1]))).toBeNull();
});
