import { describe, expect, test } from '@jest/globals';
import type { HistogramSeries } from './series/series.ts';
import { find, gained, gainedSum, whole } from './testing/find-series.ts';
import { recordedPages } from '../../fixtures/captures.ts';
import { replay } from './testing/replay.ts';

const DYNAMO: [string, number, number, number, number, number[]][] = [
  ['a-steady-c8', 200, 9600, 52_049, 9400, [99, 101]],
  ['b-steady-c32', 480, 23_040, 126_733, 22_560, [232, 248]],
  ['d-nostream-c8', 160, 7680, 41_912, 7520, [81, 79]],
];

describe('Dynamo: the true increases, including series born late', () => {
  test.each(DYNAMO)('%s', (run, requests, outputTokens, inputTokens, gaps, workers) => {
    const frontend = replay(recordedPages(`dynamo/${run}/scrapes/frontend.txt.br`));
    expect(gained(frontend, 'dynamo_frontend_requests_total')).toBe(requests);
    expect(gained(frontend, 'dynamo_frontend_requests_started_total')).toBe(requests);
    expect(gained(frontend, 'dynamo_frontend_output_tokens_total')).toBe(outputTokens);
    expect(gainedSum(frontend, 'dynamo_frontend_input_sequence_tokens')).toBe(inputTokens);
    expect(gained(frontend, 'dynamo_frontend_time_to_first_token_seconds')).toBe(requests);
    expect(gained(frontend, 'dynamo_frontend_inter_token_latency_seconds')).toBe(gaps);
    const perWorker = ['worker1', 'worker2'].map((worker) => {
      const store = replay(recordedPages(`dynamo/${run}/scrapes/${worker}.txt.br`));
      return gained(store, 'dynamo_component_requests_total', { dynamo_endpoint: 'generate' });
    });
    expect(perWorker).toEqual(workers);
  });
});

describe('vLLM', () => {
  const store = replay(recordedPages('vllm/series.txt.br'));

  test('aborted requests are in the TTFT count and not in the count of finished requests', () => {
    expect(gained(store, 'vllm:request_success_total')).toBe(191);
    expect(gained(store, 'vllm:request_success_total', { finished_reason: 'abort' })).toBe(0);
    expect(gained(store, 'vllm:e2e_request_latency_seconds')).toBe(191);
    expect(gained(store, 'vllm:time_to_first_token_seconds')).toBe(196);
    expect(gained(store, 'http_requests_total', { status: '2xx' })).toBe(196);
    expect(gained(store, 'http_requests_total', { status: '4xx' })).toBe(4);
  });

  test('the token count is the sum of first tokens and gaps', () => {
    const tokens = gained(store, 'vllm:generation_tokens_total');
    expect(tokens).toBe(4864 - 134);
    expect(gained(store, 'vllm:time_to_first_token_seconds') + gained(store, 'vllm:inter_token_latency_seconds')).toBe(
      tokens,
    );
    expect(gained(store, 'vllm:prompt_tokens_total')).toBe(22_602 - 1663);
    expect(gained(store, 'vllm:prefix_cache_hits_total')).toBe(512);
  });

  test('a failed scrape is a gap, and late scrapes are visible', () => {
    expect(Array.from({ length: store.scrapes }, (_, i) => store.isOk(i)).filter((ok) => !ok)).toHaveLength(1);
    const [running] = whole(store, 'vllm:num_requests_running');
    expect(running?.kind === 'gauge' && running.longest_gap_seconds).toBeGreaterThan(1.66);
  });

  test('gauges of start times are not separate series', () => {
    expect(store.series.filter(({ family }) => family.name.endsWith('_created'))).toEqual([]);
    expect(store.restarts).toEqual([]);
  });
});

describe('vLLM inside Ray', () => {
  const store = replay(recordedPages('vllm-within-ray/series.txt.br'));

  test('the counts are those of the client: 60 requests of 16 tokens, and the one before', () => {
    expect(gained(store, 'vllm:request_success_total')).toBe(61);
    expect(gained(store, 'vllm:e2e_request_latency_seconds')).toBe(61);
    expect(gained(store, 'vllm:generation_tokens_total')).toBe(61 * 16);
  });

  test('the sums, which Ray makes of the middles of the buckets, are no values', () => {
    // The page has 9.15 s for 61 requests, of which the client measured a mean of 0.069 s: the first bucket ends at 0.3 s.
    const [latency] = whole(store, 'vllm:e2e_request_latency_seconds');
    expect(latency).toMatchObject({ kind: 'histogram', count: 61, sum: null, mean: null, infeasible_sum: false });
    expect(latency?.kind === 'histogram' && latency.percentiles?.p50).toEqual({
      estimate: expect.closeTo(0.15, 9) as unknown,
      bounds: [0, 0.3],
      bounds_by_sum: null,
    });
    expect(store).toMatchObject({ isOfRay: true, omitsSums: true });
  });
});

describe('Triton', () => {
  const store = replay(recordedPages('triton/series.txt.br'));

  test.each([
    ['batcher', 'nv_inference_request_success', 237],
    ['batcher', 'nv_inference_count', 603],
    ['batcher', 'nv_inference_exec_count', 171],
    ['cached', 'nv_inference_request_success', 250],
    ['cached', 'nv_inference_count', 110],
    ['tokens', 'nv_inference_request_success', 250],
  ])('%s: %s %d', (model, family, expected) => {
    expect(gained(store, family, { model })).toBe(expected);
  });

  test('rejections are failures, error responses are not', () => {
    expect(gained(store, 'nv_inference_request_failure', { model: 'batcher', reason: 'REJECTED' })).toBe(13);
    expect(gained(store, 'nv_inference_request_failure', { model: 'batcher', reason: 'BACKEND' })).toBe(0);
    expect(gained(store, 'demo_output_tokens')).toBe(4765);
  });

  test("a stream's duration ends when the model accepts the request: the client waited ten times as long", () => {
    const microseconds = gained(store, 'nv_inference_request_duration_us', { model: 'tokens' }) / 250;
    expect(microseconds).toBeGreaterThan(20_000);
    expect(microseconds).toBeLessThan(35_000);
  });

  test('summaries are kept; a quantile of an empty window is not a value, and is counted', () => {
    const quantiles = store.series.filter(({ labels, family }) => 'quantile' in labels && family.type === 'summary');
    expect(quantiles.length).toBeGreaterThan(0);
    expect(quantiles.some(({ noValues }) => noValues > 0)).toBe(true);
    expect(gained(store, 'nv_inference_request_summary_us_count', { model: 'batcher' })).toBeGreaterThan(0);
  });
});

describe.each([
  // The request for the list of models came before the recording; aborted streams are 499 in the one, 200 in the other.
  ['smg', { '200': 289, '400': 6, '499': 5 }, 7200],
  ['sglang-router', { '200': 289 + 5, '400': 6 }, 240],
] as const)('the gateway %s', (name, responses, lastBound) => {
  const store = replay(recordedPages(`${name}/series.txt.br`));

  test('routed requests exclude rejected ones and include closed streams', () => {
    expect(gained(store, 'smg_router_requests_total', { streaming: 'false' })).toBe(33);
    expect(gained(store, 'smg_router_requests_total', { streaming: 'true' })).toBe(261);
    expect(gained(store, 'smg_router_request_duration_seconds')).toBe(294);
  });

  test('responses by status', () => {
    const counted = Object.keys(responses).map((status_code) => [
      status_code,
      gained(store, 'smg_http_responses_total', { status_code }),
    ]);
    expect(Object.fromEntries(counted)).toEqual(responses);
  });

  test('its request duration is not that of the stream: the client measured 0.5 s', () => {
    expect(gainedSum(store, 'smg_router_request_duration_seconds') / 294).toBeLessThan(0.2);
  });

  test('the grid is read from the page: releases differ', () => {
    const [duration] = find(store, 'smg_router_request_duration_seconds') as HistogramSeries[];
    expect(duration?.bounds.at(-2)).toBe(lastBound);
  });

  test('a gauge with a label le is not a histogram', () => {
    const ages = store.series.filter(({ family }) => family.name === 'smg_http_inflight_request_age_count');
    expect(ages.length).toBeGreaterThan(0);
    expect(ages.every(({ family, labels }) => family.type === 'gauge' && 'le' in labels)).toBe(true);
  });

  test('no series is lost when families and samples are in random order', () => {
    expect(store.series.every((series) => series.hasValueAt(store.scrapes - 1))).toBe(true);
  });
});

describe('SGLang', () => {
  const store = replay(recordedPages('sglang/series.txt.br'));

  test.each([
    ['sglang:num_aborted_requests_total', 6],
    ['sglang:num_requests_total', 144],
    ['sglang:prompt_tokens_total', 111_903],
    ['sglang:generation_tokens_total', 27_056],
    ['sglang:inter_token_latency_seconds', 20_241],
  ])('%s %d', (family, expected) => {
    expect(gained(store, family)).toBe(expected);
  });

  test('bounds are kept as the page writes them', () => {
    const [stages] = find(store, 'sglang:per_stage_req_latency_seconds') as HistogramSeries[];
    expect(stages?.boundTexts).toContain('0.0016200000000000001');
    const [evictions] = find(store, 'sglang:eviction_duration_seconds') as HistogramSeries[];
    expect(evictions?.boundTexts.at(-2)).toBe('1.0');
  });

  test('sums of seconds', () => {
    expect(gainedSum(store, 'sglang:e2e_request_latency_seconds')).toBeCloseTo(859.701, 2);
    expect(gainedSum(store, 'sglang:time_to_first_token_seconds')).toBeCloseTo(91.096, 2);
  });
});

describe('LMCache', () => {
  test.each([
    ['lmcache:num_lookup_requests_total', 163],
    ['lmcache:num_lookup_tokens_total', 184_961],
    ['lmcache:num_lookup_hits_total', 58_112],
    ['lmcache:num_retrieve_requests_total', 71],
    ['lmcache:num_store_requests_total', 163],
    ['lmcache:num_stored_tokens_total', 126_849],
  ])('%s %d', (family, expected) => {
    expect(gained(replay(recordedPages('lmcache/series.txt.br')), family)).toBe(expected);
  });
});

describe('TensorRT-LLM', () => {
  const store = replay(recordedPages('trtllm/series.txt.br'));

  test.each([
    ['trtllm_prompt_tokens_total', 83_679],
    ['trtllm_generation_tokens_total', 19_126],
    ['trtllm_request_success_total', 150],
    ['trtllm_e2e_request_latency_seconds', 149],
    ['trtllm_time_per_output_token_seconds', 142],
    ['trtllm_request_error_total', 7],
    ['trtllm_prompt_cached_tokens_total', 59_408],
  ])('%s %d: families that appear with their first value count from 0', (family, expected) => {
    expect(gained(store, family)).toBe(expected);
  });

  test('sums of seconds', () => {
    expect(gainedSum(store, 'trtllm_time_to_first_token_seconds')).toBeCloseTo(167.277176, 5);
    expect(gainedSum(store, 'trtllm_e2e_request_latency_seconds')).toBeCloseTo(388.947092, 5);
  });
});

describe('Text Generation Inference, restarted between loads of 60 and of 30 requests', () => {
  // Each load and the request that `llmbench run` sends first; the page is empty until then.
  const REQUESTS = 61 + 31;
  const store = replay(recordedPages('tgi/restart.txt.br'));

  test.each([
    ['tgi_request_success', REQUESTS],
    ['tgi_request_duration', REQUESTS],
    ['tgi_request_count', 2 * REQUESTS],
  ])('%s %d', (family, expected) => {
    expect(gained(store, family)).toBe(expected);
  });

  test('output and prompt tokens are those of the usage in the responses: 16 and 67 of each request', () => {
    expect(gainedSum(store, 'tgi_request_generated_tokens')).toBe(16 * REQUESTS);
    expect(gainedSum(store, 'tgi_request_input_length')).toBe(67 * REQUESTS);
  });

  test('an empty page is a good scrape of a living process', () => {
    expect(store.restarts).toHaveLength(1);
    expect(Array.from({ length: store.scrapes }, (_, i) => store.isOk(i)).filter((ok) => !ok)).toHaveLength(7);
  });
});

describe('a server restarted between two equal loads', () => {
  // A load is 120 requests and the probe that `llmbench run` sends first, each with 16 output tokens.
  test.each([
    ['triton', 'nv_inference_request_success', 2 * 121],
    ['triton', 'demo_output_tokens', 2 * 121 * 16],
    ['smg', 'smg_router_requests_total', 2 * 121],
    ['sglang-router', 'smg_router_requests_total', 2 * 121],
    ['sglang', 'sglang:num_requests_total', 2 * 144],
    ['sglang', 'sglang:generation_tokens_total', 2 * 27_056],
  ])('%s: %s %d', (system, family, expected) => {
    expect(gained(replay(recordedPages(`${system}/restart.txt.br`)), family)).toBe(expected);
  });
});
