import { expect, test } from '@jest/globals';
import type { ResultFile } from '../../../core/run/result.ts';
import type { SeriesSummary } from '../../../core/run/servers-file.ts';
import { firstTokenTimeOf } from './first-token-parts.ts';

const REQUESTS = 100;

/** `milliseconds`: mean per observation. */
function series(
  target: string,
  family: string,
  milliseconds: number,
  { count = REQUESTS, labels = {}, ...rest }: Partial<SeriesSummary> & { readonly count?: number } = {},
): SeriesSummary {
  const unit = family.endsWith('_ms') ? 'milliseconds' : 'seconds';
  const sum = (milliseconds * count) / (unit === 'seconds' ? 1000 : 1);
  return {
    ...{ target, family, type: 'histogram', unit, per: 'request', description: null, labels },
    ...{ repeats: null, no_values: 0, slices: null },
    statistics: {
      ...{ kind: 'histogram', count, sum, mean: sum / count, rate_per_second: null, resets: 0 },
      ...{ infeasible_sum: false, percentiles: null, buckets: null },
    },
    ...rest,
  };
}

function result(mean_ms: number, n = REQUESTS): ResultFile {
  const ttft = { measure: 'time_to_first_token', kind: 'distribution', population: 'ok', clock: 'sent', n };
  return { measures: [{ ...ttft, mean: mean_ms / 1000 }] } as unknown as ResultFile;
}

const split = (mean_ms: number, all: readonly SeriesSummary[]) => {
  const found = firstTokenTimeOf(result(mean_ms), all);
  return {
    ms: found?.parts?.map(({ part, seconds }) => [part, Number((seconds * 1000).toFixed(3))]) ?? null,
    notes: found?.notes ?? null,
  };
};

const worker = (component: string) => ({ labels: { dynamo_component: component, dynamo_endpoint: 'generate' } });
const DURATION = 'dynamo_component_request_duration_seconds';
const TRANSFER = 'dynamo_component_router_kv_transfer_estimated_latency_seconds';

/** Means of a run of 100 requests against Dynamo 1.6.1, a prefill and a decode worker with the mock engine. */
const DISAGGREGATED = [
  series('frontend', 'dynamo_frontend_time_to_first_token_seconds', 47.303),
  series('frontend', 'dynamo_component_router_time_to_first_token_seconds', 31.946, { count: 200 }),
  series('frontend', 'dynamo_frontend_stage_duration_seconds', 2.033, { labels: { stage: 'preprocess' } }),
  series('frontend', 'dynamo_frontend_stage_duration_seconds', 22.052, {
    ...{ labels: { stage: 'transport_roundtrip' }, count: 200 },
  }),
  series('frontend', 'dynamo_router_overhead_total_ms', 0.256, { count: 200 }),
  series('frontend', TRANSFER, 15.303),
  series('prefill', DURATION, 27.72, worker('prefill')),
  series('prefill', DURATION, 0.6, {
    ...{ labels: { dynamo_component: 'prefill', dynamo_endpoint: 'worker_kv_query_source_1' }, count: 1 },
  }),
  series('decode', DURATION, 153.709, worker('backend')),
  series('decode', 'vllm:time_to_first_token_seconds', 9.705),
];

test('Dynamo, disaggregated: the prefill worker, the way to the decode worker, its first token', () => {
  expect(split(84.69, DISAGGREGATED)).toEqual({
    ms: [
      ['preprocess', 2.033],
      ['router', 0.512],
      ['prefill', 27.72],
      ['transfer', 5.598],
      ['first_decode', 9.705],
      ['not_attributed', 1.735],
      ['outside', 37.387],
    ],
    notes: [],
  });
});

test('an engine on the prefill worker that has a queue and a prefill time: those, and not how long the worker took', () => {
  const engine = [
    series('prefill', 'vllm:request_queue_time_seconds', 4),
    series('prefill', 'vllm:request_prefill_time_seconds', 20),
    series('decode', 'vllm:request_queue_time_seconds', 1),
  ];
  expect(split(84.69, [...DISAGGREGATED, ...engine]).ms?.slice(2, 4)).toEqual([
    ['queue', 4],
    ['prefill', 20],
  ]);
});

test('prefill and decode workers called at once: no transfer is observed, and the two overlap', () => {
  const atOnce = DISAGGREGATED.filter(({ family }) => family !== TRANSFER);
  expect(split(84.69, [...atOnce, series('frontend', TRANSFER, 0, { count: 200 })])).toEqual({
    ms: null,
    notes: [
      'parts overlap, as where the prefill and the decode worker are called at once: Server: prefill 27.7 ms, Decode worker: first token 9.71 ms, of 47.3 ms in the servers',
    ],
  });
});

test('Dynamo, aggregated: the time of the engines of both workers together', () => {
  const all = [
    series('frontend', 'dynamo_frontend_time_to_first_token_seconds', 38),
    series('frontend', 'dynamo_frontend_stage_duration_seconds', 0.75, { labels: { stage: 'preprocess' } }),
    series('one', DURATION, 227, { ...worker('backend'), count: 60 }),
    series('one', 'vllm:time_to_first_token_seconds', 30, { count: 60 }),
    series('two', 'vllm:time_to_first_token_seconds', 40, { count: 40 }),
  ];
  expect(split(43, all).ms).toEqual([
    ['preprocess', 0.75],
    ['engine', 34],
    ['not_attributed', 3.25],
    ['outside', 5],
  ]);
});

test('vLLM: queue and prefill; a page that repeats another is not counted', () => {
  const page = (repeats: string | null, target: string) => [
    series(target, 'vllm:time_to_first_token_seconds', 90, { repeats }),
    series(target, 'vllm:request_queue_time_seconds', 30, { repeats }),
    series(target, 'vllm:request_prefill_time_seconds', 50, { repeats }),
  ];
  expect(split(100, [...page(null, 'a'), ...page('a', 'b')]).ms).toEqual([
    ['queue', 30],
    ['prefill', 50],
    ['not_attributed', 10],
    ['outside', 10],
  ]);
});

test('an engine without a prefill time: what its time to first token has beside the queue', () => {
  const all = [series('a', 'sglang:time_to_first_token_seconds', 90), series('a', 'sglang:queue_time_seconds', 30)];
  expect(split(100, all).ms).toEqual([
    ['queue', 30],
    ['engine', 60],
    ['outside', 10],
  ]);
});

test('nothing to divide: no server has the time, its sum is unknown, or responses were not streamed', () => {
  const ttft = series('a', 'vllm:time_to_first_token_seconds', 90);
  expect(firstTokenTimeOf(result(100), [])).toBeNull();
  expect(firstTokenTimeOf(result(100), [{ ...ttft, unit: null }])).toBeNull();
  expect(firstTokenTimeOf(result(100), [series('a', 'smg_router_ttft_seconds', 90)])).toBeNull();
  expect(firstTokenTimeOf(result(100, 0), [ttft])).toBeNull();
});
