import { describe, expect, test } from '@jest/globals';
import { signalRules } from '../../catalog/explanations.ts';
import type { MeasureVerdict, VerdictName } from '../../core/api/verdict.ts';
import type { SeriesSummary, ServersFile } from '../../core/run/servers-file.ts';
import { explain, signalsIn, type RunSignals } from './explanation.ts';

const VLLM = { requests_waiting: 'vllm:num_requests_waiting', cache_hit_ratio: 'vllm:prefix_cache_hits_total' };
type Values = Readonly<Partial<Record<keyof typeof VLLM, number>>>;

const ofVllm = (run_id: string, values: Values): RunSignals => ({
  run_id,
  values: Object.entries(values).map(([signal, value]) => ({
    ...{ signal, system: 'vllm', family: VLLM[signal as keyof Values], value },
  })),
  problem: null,
});

const side = (name: string, all: readonly Values[]): RunSignals[] => all.map((one, i) => ofVllm(`${name}${i}`, one));

function measure(verdict: VerdictName, gating = true, name = 'time_to_first_token'): MeasureVerdict {
  return {
    ...{ measure: name, stat: 'p50', unit: 'seconds', definition: 'd', origin: 'client' },
    ...{ population: 'ok', clock: 'sent', direction: 'lower', gating, verdict, reason: 'decided', sentence: '' },
    ...{ effect: null, confidence: null, method: null, runs: { a: 4, b: 4 }, margin: 0.05, detectable: null },
    ...{ p: null, needs: null },
  };
}

function explained(
  a: readonly RunSignals[],
  b: readonly RunSignals[],
  measures = [measure('regressed')],
  design: 'sets' | 'pairs' = 'sets',
) {
  const runs = { a: a.map(({ run_id }) => run_id), b: b.map(({ run_id }) => run_id) };
  return explain({ design, runs, measures }, new Map([...a, ...b].map((run) => [run.run_id, run])), signalRules());
}

const waiting = (...values: number[]): Values[] => values.map((requests_waiting) => ({ requests_waiting }));

describe('signals that moved with a regression', () => {
  test('a queue that is longer in every run of B moved; p is 1 of the 70 arrangements of 4 + 4 runs', () => {
    const found = explained(side('a', waiting(1, 2, 3, 4)), side('b', waiting(11, 12, 13, 14)));
    expect(found).toMatchObject({ compared: 1, runs: { a: 4, b: 4 }, not_used: [] });
    expect(found?.signals).toMatchObject([
      { signal: 'requests_waiting', median_a: 2.5, median_b: 12.5, ratio: 5, moved_with: ['time_to_first_token p50'] },
    ]);
    expect(found?.signals[0]?.p).toBeCloseTo(1 / 70, 12);
    expect(found?.signals[0]?.look_at).toContain('--max-num-seqs');
  });

  test('a queue that is shorter did not move with a regression, but with an improvement', () => {
    const [a, b] = [side('a', waiting(11, 12, 13, 14)), side('b', waiting(1, 2, 3, 4))];
    expect(explained(a, b)?.signals).toEqual([]);
    expect(explained(a, b, [measure('improved')])?.signals).toHaveLength(1);
  });

  test('overlapping values did not move', () => {
    expect(explained(side('a', waiting(1, 2, 3, 4)), side('b', waiting(1.5, 2.5, 0.5, 5)))?.signals).toEqual([]);
  });

  test('the clearest comes first, and of equally clear ones the one that moved furthest', () => {
    const both = (requests_waiting: number, cache_hit_ratio: number): Values => ({ requests_waiting, cache_hit_ratio });
    const a = side('a', [both(10, 0.8), both(11, 0.81), both(12, 0.82), both(13, 0.83)]);
    const b = side('b', [both(14, 0.1), both(15, 0.11), both(16, 0.12), both(17, 0.13)]);
    expect(explained(a, b)?.signals.map(({ signal }) => signal)).toEqual(['cache_hit_ratio', 'requests_waiting']);
  });

  test('pairs are compared within each pair: 1 of 64 arrangements of 6 differences', () => {
    const a = side('a', waiting(1, 10, 20, 30, 40, 50));
    const b = side('b', waiting(1.5, 11, 22, 33, 44, 55));
    expect(explained(a, b, undefined, 'pairs')?.signals[0]?.p).toBeCloseTo(1 / 64, 12);
    expect(explained(a, b)?.signals).toEqual([]);
  });
});

describe('what is not compared', () => {
  const a = side('a', waiting(1, 2, 3, 4));
  const b = side('b', waiting(11, 12, 13, 14));

  test('nothing when no gating measure changed', () => {
    expect(explained(a, b, [measure('unchanged'), measure('undecided'), measure('regressed', false)])).toBeNull();
  });

  test('a signal that has nothing to do with the measure', () => {
    expect(explained(a, b, [measure('regressed', true, 'error_ratio')])).toMatchObject({ compared: 0, signals: [] });
  });

  test('a signal that one run lacks: missing is not zero', () => {
    expect(explained(a, [...b, ofVllm('b4', {})])).toMatchObject({ compared: 0, signals: [] });
  });

  test('a signal that is the same in all runs', () => {
    expect(explained(side('a', waiting(0, 0)), side('b', waiting(0, 0)))).toMatchObject({ compared: 0 });
  });

  test('runs without exact server metrics; of a pair both', () => {
    const inexact: RunSignals = { run_id: 'b4', values: [], problem: 'not_exact' };
    const withFifth = [...a, ...side('c', waiting(5))];
    expect(explained(withFifth, [...b, inexact])).toMatchObject({
      runs: { a: 5, b: 4 },
      not_used: [{ run_id: 'b4', problem: 'not_exact' }],
    });
    expect(explained(withFifth, [...b, inexact], undefined, 'pairs')).toMatchObject({ runs: { a: 4, b: 4 } });
  });
});

test('servers of different systems are compared by the quantity that they share', () => {
  const sglang = [11, 12, 13, 14].map((value, i): RunSignals => ({
    run_id: `b${i}`,
    values: [{ signal: 'requests_waiting', system: 'sglang', family: 'sglang:num_queue_reqs', value }],
    problem: null,
  }));
  const [signal] = explained(side('a', waiting(1, 2, 3, 4)), sglang)?.signals ?? [];
  expect(signal).toMatchObject({ family_a: 'vllm:num_requests_waiting', family_b: 'sglang:num_queue_reqs' });
  expect(signal?.look_at).toContain('--max-running-requests');
});

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
