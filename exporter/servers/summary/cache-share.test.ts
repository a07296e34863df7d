import { expect, test } from '@jest/globals';
import { cacheShare } from './cache-share.ts';
import { collectionOfStores } from '../testing/aiperf-collection.ts';
import { pagesOf, replay } from '../testing/replay.ts';

const counters = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .map(([series, value]) => `# TYPE ${series.replace(/\{.*/, '')} counter\n${series} ${value}`)
    .join('\n');

function shareOf(...targets: string[][]): number | null {
  const stores = targets.map((pages, i) => [`http://h:${i}/metrics`, replay(pagesOf(...pages))] as const);
  return cacheShare(
    collectionOfStores(new Map(stores), {
      zeroWall_ns: 0n,
      window: { start_ns: 0, end_ns: 2e9 },
      definitions: 'llmbench',
      slice_ns: null,
    }),
  );
}

const vllm = (cached: number, prompt: number): string =>
  counters({ 'vllm:prompt_tokens_cached_total': cached, 'vllm:prompt_tokens_total': prompt });

test('the increase of the counters in the window, over all targets', () => {
  // 300 of 1,000 and 100 of 600: earlier counts are excluded.
  const first = [vllm(50, 5000), vllm(60, 5100), vllm(350, 6000)];
  const second = [vllm(0, 0), vllm(100, 600), vllm(100, 600)];
  expect(shareOf(first, second)).toBe(400 / 1600);
});

test('nothing was cached: 0, not unknown', () => {
  expect(shareOf([vllm(7, 10), vllm(7, 20), vllm(7, 30)])).toBe(0);
});

test('SGLang: of the sources only their total', () => {
  const page = (cached: number, prompt: number): string =>
    [
      '# TYPE sglang:cached_tokens_total counter',
      `sglang:cached_tokens_total{cache_source="device"} ${cached}`,
      `sglang:cached_tokens_total{cache_source="total"} ${cached}`,
      counters({ 'sglang:prompt_tokens_total': prompt }),
    ].join('\n');
  expect(shareOf([page(0, 0), page(10, 50), page(25, 100)])).toBe(0.25);
});

test("Dynamo's frontend: the sums of its histograms", () => {
  const histogram = (name: string, count: number, sum: number): string =>
    `# TYPE ${name} histogram\n${name}_bucket{le="+Inf"} ${count}\n${name}_sum ${sum}\n${name}_count ${count}`;
  const page = (count: number, cached: number, prompt: number): string =>
    `${histogram('dynamo_frontend_cached_tokens', count, cached)}\n${histogram('dynamo_frontend_input_sequence_tokens', count, prompt)}`;
  expect(shareOf([page(0, 0, 0), page(1, 30, 100), page(4, 60, 400)])).toBe(0.15);
});

test.each([
  ['no counter of cached tokens', [1, 2, 3].map((n) => counters({ 'vllm:prompt_tokens_total': n }))],
  ['no prompt was read', [vllm(5, 5), vllm(5, 5), vllm(5, 5)]],
  ['nothing of the kind', [1, 2, 3].map((n) => counters({ other_total: n }))],
])('unknown: %s', (_, pages) => expect(shareOf(pages)).toBeNull());
