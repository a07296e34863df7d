import { expect, test } from '@jest/globals';
import type { SeriesSummary, ServersFile } from '../../../core/run/servers-file.ts';
import { shownServers } from './show-servers.ts';

const TARGET = 'http://h:8000/metrics';
const HEAD = `${TARGET}  vllm  up  3 scrapes, 0 failed, p50 2 ms, p99 4 ms`;

const series = (family: string, type: string, unit: string | null, statistics: object): SeriesSummary =>
  ({ target: TARGET, family, type, unit, labels: {}, repeats: null, statistics }) as unknown as SeriesSummary;

const counter = (family: string, increase: number | null): SeriesSummary =>
  series(family, 'counter', 'tokens', {
    kind: 'counter',
    increase,
    rate_per_second: increase === null ? null : increase / 10,
  });

const percentile = (estimate: number, low: number, high: number | null) => ({
  estimate,
  bounds: [low, high],
  bounds_by_sum: null,
});

const HISTOGRAM = series('my_app_wait_seconds', 'histogram', 'seconds', {
  kind: 'histogram',
  count: 200,
  rate_per_second: 20,
  mean: 0.5,
  percentiles: { p50: percentile(0.4, 0.2, 0.5), p90: percentile(0.9, 0.5, 1), p99: percentile(1, 1, null) },
});

const gauge = (family: string, min: number, mean: number, max: number): SeriesSummary =>
  series(family, 'gauge', 'ratio', { kind: 'gauge', min, mean, max });

function shown(all: readonly SeriesSummary[], width?: number): string[] {
  const target = { target: TARGET, system: 'vllm', state: 'up', scrapes: 3, failed_scrapes: 0, notes: [] };
  const times = { scrape_duration_seconds: { p50: 0.002, p99: 0.004 } };
  const file = { definitions: 'llmbench', targets: [{ ...target, ...times }], series: all };
  return shownServers(file as unknown as ServersFile, width).split('\n');
}

test('what changed of known and unknown systems, with rates, and with the bounds of percentiles', () => {
  const all = [HISTOGRAM, counter('vllm:prompt_tokens_total', 50), gauge('vllm:kv_cache_usage_perc', 0.1, 0.2, 0.5)];
  expect(shown(all)).toEqual([
    HEAD,
    '',
    '  histogram            count  per second    mean     p50        p50 within     p90     p90 within  p99  p99 within',
    '  my_app_wait_seconds    200          20  500 ms  400 ms  200 ms to 500 ms  900 ms  500 ms to 1 s  1 s       > 1 s',
    '',
    '  counter                    increase  per second',
    '  vllm:prompt_tokens_total  50 tokens           5',
    '',
    '  gauge                      min  mean   max',
    '  vllm:kv_cache_usage_perc  10 %  20 %  50 %',
  ]);
});

test('a narrow terminal gets the same on lines of their own, none of them too long', () => {
  const lines = shown([HISTOGRAM], 60);
  expect(lines.slice(-4)).toEqual([
    '  my_app_wait_seconds',
    '    count 200 · per second 20 · mean 500 ms · p50 400 ms ·',
    '    p50 within 200 ms to 500 ms · p90 900 ms ·',
    '    p90 within 500 ms to 1 s · p99 1 s · p99 within > 1 s',
  ]);
  expect(lines.every((line) => line.length <= 60)).toBe(true);
});

test('what did not change is left out, and what is unknown is no 0', () => {
  const lines = shown([counter('a_total', 0), counter('b_total', null), gauge('level', 1, 1, 1)]);
  expect(lines.slice(1)).toEqual(['', '  counter  increase  per second', '  b_total         –           –']);
  expect(shown([counter('a_total', 0)])).toEqual([HEAD, '  nothing changed']);
});

test('the number of lines has a limit, which is reported', () => {
  const lines = shown(Array.from({ length: 500 }, (_, i) => counter(`family_${i}_total`, 1)));
  expect(lines.length).toBeLessThan(70);
  expect(lines.at(-1)).toBe('  … and 440 more in servers.json');
});

test('cache hits and accepted speculative tokens are shares, where the servers count both', () => {
  const lines = shown([
    counter('vllm:prefix_cache_hits_total', 25),
    counter('vllm:prefix_cache_queries_total', 100),
    counter('vllm:spec_decode_num_accepted_tokens_total', 30),
    counter('vllm:spec_decode_num_draft_tokens_total', 40),
    counter('vllm:external_prefix_cache_hits_total', null),
    counter('vllm:external_prefix_cache_queries_total', 100),
  ]);
  expect(lines.slice(1, 4)).toEqual([
    '  prefix cache hits: 25 % (25 of 100 tokens)',
    '  speculative tokens accepted: 75 % (30 of 40 tokens)',
    '',
  ]);
});
