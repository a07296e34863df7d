import { describe, expect, test } from '@jest/globals';
import { serverSignals } from './server-signals.ts';
import type { ServerSample } from './server-signals.ts';
import { timeBins } from './time-bins.ts';

const BINS = timeBins(6);

function samples(
  name: string,
  values: readonly (readonly [number, number | null])[],
  labels = '{}',
  target = 'http://a:8000/metrics',
): ServerSample[] {
  return values.map(([at_seconds, value]) => ({ target, name, labels, at_seconds, value }));
}

describe('gauges', () => {
  test('hold until the next value; the mean over a bin is drawn, and nothing where no value is known', () => {
    const running = samples('vllm:num_requests_running', [
      [0.5, 4],
      [1.25, 8],
      [2, 8],
    ]);
    const [signal] = serverSignals(running, BINS, 0.25);
    expect(signal?.quantity).toBe('requests_running');
    // Bins of 0.5 s: [0.5, 1) 4, [1, 1.5) half 4 and half 8, [1.5, 2) 8.
    expect(signal?.lines[0]?.values).toEqual([null, 4, 6, 8, ...Array<null>(8).fill(null)]);
  });

  test('engines of a target are summed, its KV caches are not; targets stay separate', () => {
    const all = [
      ...samples(
        'vllm:num_requests_waiting',
        [
          [0, 1],
          [6, 1],
        ],
        '{"engine":"0"}',
      ),
      ...samples(
        'vllm:num_requests_waiting',
        [
          [0, 2],
          [6, 2],
        ],
        '{"engine":"1"}',
      ),
      ...samples(
        'vllm:num_requests_waiting',
        [
          [0, 5],
          [6, 5],
        ],
        '{}',
        'http://b:8000/metrics',
      ),
      ...samples(
        'vllm:kv_cache_usage_perc',
        [
          [0, 0.25],
          [6, 0.25],
        ],
        '{"engine":"0"}',
      ),
      ...samples(
        'vllm:kv_cache_usage_perc',
        [
          [0, 0.75],
          [6, 0.75],
        ],
        '{"engine":"1"}',
      ),
    ];
    const signals = serverSignals(all, BINS, 0.25);
    const values = (quantity: string) => signals.find((s) => s.quantity === quantity)?.lines.map((l) => l.values[0]);
    expect(values('requests_waiting')).toEqual([3, 5]);
    expect(values('kv_cache_usage')).toEqual([0.75]);
  });
});

test('counters are rates over at least two scrapes, a reset counts from 0', () => {
  const tokens = samples('vllm:generation_tokens_total', [
    [0, 100],
    [1, 150],
    [2, 200],
    [3, 40],
    [4, 100],
    [5, 160],
    [6, 220],
  ]);
  const [signal] = serverSignals(tokens, BINS, 1);
  expect(signal?.bins).toMatchObject({ widthSeconds: 2, count: 3 });
  // 100 → 200; then 40 + 60 after the reset; then 120: each over 2 s.
  expect(signal?.lines[0]?.values).toEqual([50, 50, 60]);
});

test('families that are not signals are left out; without signals the result is empty', () => {
  expect(
    serverSignals(
      samples('python_gc_collections_total', [
        [0, 1],
        [1, 2],
      ]),
      BINS,
      1,
    ),
  ).toEqual([]);
});
