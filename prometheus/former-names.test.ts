import { describe, expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { rulesWithFormerNames, withFormerNames } from './former-names.ts';

describe('a query reads the former name of a family where the current one has no series', () => {
  test.each([
    [
      'a gauge',
      'max by (instance) (vllm:kv_cache_usage_perc{job=~"$job"})',
      'max by (instance) (vllm:kv_cache_usage_perc{job=~"$job"} or vllm:gpu_cache_usage_perc{job=~"$job"})',
    ],
    [
      'a histogram',
      'sum by (le) (rate(vllm:inter_token_latency_seconds_bucket[$__rate_interval]))',
      'sum by (le) (rate(vllm:inter_token_latency_seconds_bucket[$__rate_interval]) or rate(vllm:time_per_output_token_seconds_bucket[$__rate_interval]))',
    ],
    [
      'between operators',
      'vllm:kv_cache_usage_perc > 0.9 and vllm:num_requests_running',
      '(vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc) > 0.9 and vllm:num_requests_running',
    ],
    [
      'a former family that lacks a label',
      'max(dynamo_component_gpu_cache_usage_percent{model=~"$model",instance=~"$instance"})',
      'max(dynamo_component_gpu_cache_usage_percent{model=~"$model",instance=~"$instance"} or dynamo_component_kvstats_gpu_cache_usage_percent{instance=~"$instance"})',
    ],
    [
      'within a subquery',
      'max_over_time((max(vllm:kv_cache_usage_perc))[$__range:$scrape_interval])',
      'max_over_time((max(vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc))[$__range:$scrape_interval])',
    ],
  ])('%s', (_case, expr, expected) => {
    expect(withFormerNames(expr)).toBe(expected);
    expect(withFormerNames(expected)).toBe(expected);
  });

  test.each([
    'vllm:num_requests_running',
    'rate(vllm:generation_tokens_total[1m])',
    'label_replace(up, "a", "vllm:kv_cache_usage_perc", "", "")',
  ])('nothing is added to %s', (expr) => {
    expect(withFormerNames(expr)).toBe(expr);
  });
});

test('only the expressions of rules change', () => {
  const rule = (expr: string): string =>
    `groups:\n  - rules:\n      # vllm:kv_cache_usage_perc\n      - record: x\n        expr: ${expr}\n        labels: { a: b }\n`;
  expect(rulesWithFormerNames(rule('|\n          max(vllm:kv_cache_usage_perc)'))).toBe(
    rule('|\n          max(vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc)'),
  );
  expect(rulesWithFormerNames(rule('vector(1)'))).toBe(rule('vector(1)'));
});

test.each(readdirSync(new URL('rules/', import.meta.url)))(
  '%s is current (else: node prometheus/generate.ts)',
  (file) => {
    const yaml = readFileSync(new URL(`rules/${file}`, import.meta.url), 'utf8');
    expect(rulesWithFormerNames(yaml)).toBe(yaml);
  },
);
