import { expect, test } from '@jest/globals';
import { collectionOfStores } from '../testing/aiperf-collection.ts';
import { pagesOf, replay } from '../testing/replay.ts';
import { cacheSigns } from './cache-signs.ts';

const vllm = (prompt: number, cached: number, output: number, blocks = 100, caching = 'True') =>
  [
    '# TYPE vllm:cache_config_info gauge',
    `vllm:cache_config_info{block_size="16",num_gpu_blocks="${blocks}",enable_prefix_caching="${caching}"} 1`,
    '# TYPE vllm:prompt_tokens_total counter',
    `vllm:prompt_tokens_total ${prompt}`,
    '# TYPE vllm:prompt_tokens_cached_total counter',
    `vllm:prompt_tokens_cached_total ${cached}`,
    '# TYPE vllm:generation_tokens_total counter',
    `vllm:generation_tokens_total ${output}`,
  ].join('\n');
const signs = (...pages: [before: string, after: string][]) =>
  cacheSigns(
    collectionOfStores(
      new Map(pages.map(([before, after], i) => [`http://worker-${i}/metrics`, replay(pagesOf(before, after))])),
      { zeroWall_ns: 0n, window: { start_ns: 0, end_ns: 1e9 }, definitions: 'llmbench', slice_ns: null },
    ),
  );

test('vLLM computed more tokens than its cache holds: it had to evict', () => {
  const [line, ...more] = signs([vllm(0, 0, 0), vllm(3000, 1000, 500)]);
  expect(line).toMatch(/holds 1,600 tokens and 2,500 were computed: it had to evict$/);
  expect(more).toEqual([]);
  expect(signs([vllm(0, 0, 0), vllm(1500, 0, 100)])).toEqual([]);
});

test('a cache that is off', () => {
  expect(signs([vllm(0, 0, 0, 100, 'False'), vllm(100, 0, 0, 100, 'False')])).toEqual([
    expect.stringMatching(/^prefix caching is off at /),
  ]);
});

test('workers whose shares differ were not routed alike', () => {
  const lines = signs([vllm(0, 0, 0), vllm(1000, 500, 0)], [vllm(0, 0, 0), vllm(1000, 100, 0)]);
  expect(lines).toEqual([expect.stringMatching(/^hits of the 2 workers 10 % to 50 %: .* not routed alike$/)]);
});

test('SGLang counts what it evicted', () => {
  const page = (tokens: number) => `# TYPE sglang:evicted_tokens_total counter\nsglang:evicted_tokens_total ${tokens}`;
  expect(signs([page(10), page(4010)])).toEqual(['4,000 tokens were evicted (sglang:evicted_tokens_total)']);
});

test('Dynamo: what the router chose of what the workers held', () => {
  const page = (best: number, chosen: number) =>
    Object.entries({ best_eligible: best, selected: chosen })
      .map(([of, tokens]) => [`dynamo_component_router_kv_${of}_cached_prefix_tokens_total`, tokens] as const)
      .map(([name, tokens]) => `# TYPE ${name} counter\n${name}{phase="aggregated"} ${tokens}`)
      .join('\n');
  expect(signs([page(100, 50), page(97_380, 89_202)])).toEqual([
    expect.stringMatching(/^the router chose workers that held 89,152 of the 97,280 prompt tokens that the best /),
  ]);
  expect(signs([page(100, 50), page(100, 50)])).toEqual([]);
});
