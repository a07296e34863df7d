import { expect, test } from '@jest/globals';
import type { SampledSeries } from '../publish/views/server-view.ts';
import { serverSignals } from './report-data.ts';

const SCRAPES = [0, 2, 4, 6];
const A = 'http://a:8000/metrics';
const B = 'http://b:8000/metrics';

function series(
  name: string,
  values: readonly (number | null)[],
  { labels = {}, target = A, type = 'gauge' }: Partial<Pick<SampledSeries, 'labels' | 'target' | 'type'>> = {},
): SampledSeries {
  return { target, name, family: name, type, labels, seconds: SCRAPES.slice(0, values.length), values: [...values] };
}

const signalsOf = (...all: readonly SampledSeries[]) =>
  serverSignals({ scrapes: new Map([A, B].map((target) => [target, SCRAPES])), series: all });

test('engines of a target are summed, its KV caches are not; targets stay separate', () => {
  const waiting = 'vllm:num_requests_waiting';
  const signals = signalsOf(
    series(waiting, [1, 1, 3, null], { labels: { engine: '0' } }),
    series(waiting, [2, 2, null, null], { labels: { engine: '1' } }),
    series(waiting, [5], { target: B }),
    series('vllm:kv_cache_usage_perc', [0.25], { labels: { engine: '0' } }),
    series('vllm:kv_cache_usage_perc', [0.75], { labels: { engine: '1' } }),
  );
  expect(signals.map(({ quantity }) => quantity)).toEqual(['requests_waiting', 'kv_cache_usage']);
  expect(signals[0]?.lines).toEqual([
    { target: A, family: waiting, seconds: SCRAPES, values: [3, 3, 3, null] },
    { target: B, family: waiting, seconds: SCRAPES, values: [5, 5, 5, 5] },
  ]);
  expect(signals[1]?.lines[0]?.values).toEqual([0.75, 0.75, 0.75, 0.75]);
});

test('counters of a target are summed as rates, a reset counts from 0', () => {
  const counter = { type: 'counter' };
  const [signal] = signalsOf(
    series('vllm:generation_tokens_total', [100, 200, 40, 100], { ...counter, labels: { engine: '0' } }),
    series('vllm:generation_tokens_total', [0, 10, 20, 30], { ...counter, labels: { engine: '1' } }),
  );
  // 100, then 40 after the reset, then 60 over 2 s each; and 10.
  expect(signal?.lines[0]?.values).toEqual([null, 55, 25, 35]);
});

test('families that are not signals are left out', () => {
  expect(signalsOf(series('python_gc_collections_total', [1, 2, 3, 4], { type: 'counter' }))).toEqual([]);
});
