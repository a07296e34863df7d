import { expect, test } from '@jest/globals';
import { signalRules } from '../../../catalog/explanations.ts';
import type { SeriesSummary, ServersFile } from '../../../core/run/servers-file.ts';
import { signalsIn } from './run-signals.ts';

function series(family: string, statistics: object, more: Partial<SeriesSummary> = {}): SeriesSummary {
  return {
    ...{ target: 't', family, type: 'gauge', unit: null, per: null, description: null, labels: {} },
    ...{ repeats: null, no_values: 0, slices: null },
    statistics: statistics as SeriesSummary['statistics'],
    ...more,
  };
}

const gauge = (mean: number | null): object => ({ kind: 'gauge', mean });
const counter = (increase: number | null): object => ({ kind: 'counter', increase });
const histogram = (count: number, sum: number): object => ({ kind: 'histogram', count, sum });

function valuesOf(...all: SeriesSummary[]): Record<string, number> {
  const file = { window: { seconds: 20 }, series: all } as unknown as ServersFile;
  return Object.fromEntries(signalsIn(file, signalRules()).map(({ signal, value }) => [signal, value]));
}

test('queues of several servers add up, shares are averaged, a repeated series counts once', () => {
  expect(
    valuesOf(
      series('vllm:num_requests_waiting', gauge(3)),
      series('vllm:num_requests_waiting', gauge(5), { target: 'u' }),
      series('vllm:num_requests_waiting', gauge(5), { target: 'v', repeats: 'u' }),
      series('vllm:kv_cache_usage_perc', gauge(0.2)),
      series('vllm:kv_cache_usage_perc', gauge(0.6), { target: 'u' }),
    ),
  ).toEqual({ requests_waiting: 8, kv_cache_usage: 0.4 });
});

test('counters per second and as quotients, histograms by their pooled mean, in base units', () => {
  expect(
    valuesOf(
      series('vllm:num_preemptions_total', counter(10)),
      series('vllm:prefix_cache_hits_total', counter(30)),
      series('vllm:prefix_cache_queries_total', counter(120)),
      series('vllm:request_queue_time_seconds', histogram(10, 1)),
      series('vllm:request_queue_time_seconds', histogram(30, 7), { target: 'u' }),
      series('DCGM_FI_DEV_SM_CLOCK', gauge(1980)),
    ),
  ).toEqual({ preemptions: 0.5, cache_hit_ratio: 0.25, queue_time: 0.2, gpu_clock: 1.98e9 });
});

test('only the series with the labels of the rule count', () => {
  const cached = (cache_source: string, n: number) =>
    series('sglang:cached_tokens_total', counter(n), { labels: { cache_source } });
  const prompts = series('sglang:prompt_tokens_total', counter(100));
  expect(valuesOf(cached('total', 40), cached('device', 40), prompts)).toEqual({ cache_hit_ratio: 0.4 });
});

test('an unknown value is left out, not taken as 0', () => {
  const two = [gauge(3), gauge(null)].map((each) => series('vllm:num_requests_waiting', each));
  expect(valuesOf(...two)).toEqual({});
  expect(valuesOf(series('vllm:prefix_cache_hits_total', counter(3)))).toEqual({});
  const none = series('vllm:prefix_cache_queries_total', counter(0));
  expect(valuesOf(series('vllm:prefix_cache_hits_total', counter(0)), none)).toEqual({});
});
