import { expect, test } from '@jest/globals';
import { pagesOf, replay } from '../testing/replay.ts';
import { cacheBlockTokens } from './cache-signs.ts';

const stores = (...pages: string[]) => pages.map((page) => replay(pagesOf(page, page)));
const vllm = (size: number) =>
  `# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size="${size}",num_gpu_blocks="100"} 1`;
const dynamo = (size: number) =>
  `# TYPE dynamo_frontend_model_kv_cache_block_size gauge\ndynamo_frontend_model_kv_cache_block_size{model="m"} ${size}`;

test.each([
  ['vLLM: a label', [vllm(16), vllm(32)], 32],
  ['Dynamo: a gauge of the frontend', [dynamo(64)], 64],
  ['SGLang: a gauge', ['# TYPE sglang:page_size gauge\nsglang:page_size 1'], 1],
  ['Dynamo before a worker registered', [dynamo(0)], null],
  ['none reports it', ['# TYPE up gauge\nup 1'], null],
])('%s', (_, pages, size) => {
  expect(cacheBlockTokens(stores(...pages))).toBe(size);
});
