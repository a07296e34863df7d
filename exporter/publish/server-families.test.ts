import { describe, expect, test } from '@jest/globals';
import { quantities } from '../../catalog/equivalents.ts';
import { sampleLines } from '../../core/exposition/index.ts';
import type { SeriesSummary } from '../../core/run/servers-file.ts';
import { counter, gauge, histogram, serversFile, target } from './fixtures/servers.ts';
import { serverFamilies } from './server-families.ts';

/** What is published of these series, as lines; patterns for more. */
function lines(series: readonly SeriesSummary[], patterns: readonly string[] = [], system = 'vllm'): string[] {
  const file = serversFile(series, { targets: [target('http://gpu-1:8000/metrics', system)] });
  return serverFamilies(file, 'r1', patterns).flatMap(({ name, type, samples }) => [
    `# TYPE ${name} ${type}`,
    ...sampleLines({ name, samples }).trimEnd().split('\n'),
  ]);
}

const BASE = 'run_id="r1",system="vllm",target="http://gpu-1:8000/metrics"';

describe('the server metrics of a run, in Prometheus', () => {
  test('a counter is its increase, from 0', () => {
    expect(lines([counter('vllm:prompt_tokens_total', 640, { labels: { engine: '0' } })])).toEqual([
      '# TYPE llmbench_server_vllm_prompt_tokens_total counter',
      `llmbench_server_vllm_prompt_tokens_total{${BASE},engine="0"} 640`,
    ]);
  });

  test('a gauge is its mean over time and its maximum', () => {
    expect(lines([gauge('vllm:num_requests_running', 6.5, 8)])).toEqual([
      '# TYPE llmbench_server_vllm_num_requests_running gauge',
      `llmbench_server_vllm_num_requests_running{${BASE},stat="mean"} 6.5`,
      `llmbench_server_vllm_num_requests_running{${BASE},stat="max"} 8`,
    ]);
  });

  test('a histogram is a histogram, with the percentiles and their bounds beside it', () => {
    const ttft = histogram(
      'vllm:time_to_first_token_seconds',
      { count: 5, sum: 0.75, buckets: [['0.1', 3], ['1', 4], ['+Inf', 5]] }, // prettier-ignore
      { estimate: 0.2, bounds: [0.1, 1], bounds_by_sum: [0.15, 0.5] },
    );
    const found = lines([ttft]);
    expect(found.slice(0, 7)).toEqual([
      '# TYPE llmbench_server_vllm_time_to_first_token_seconds histogram',
      `llmbench_server_vllm_time_to_first_token_seconds_bucket{${BASE},le="0.1"} 3`,
      `llmbench_server_vllm_time_to_first_token_seconds_bucket{${BASE},le="1.0"} 4`,
      `llmbench_server_vllm_time_to_first_token_seconds_bucket{${BASE},le="+Inf"} 5`,
      `llmbench_server_vllm_time_to_first_token_seconds_sum{${BASE}} 0.75`,
      `llmbench_server_vllm_time_to_first_token_seconds_count{${BASE}} 5`,
      '# TYPE llmbench_server_vllm_time_to_first_token_seconds_quantile untyped',
    ]);
    const quantile = (q: string, bound: string, value: number): string =>
      `llmbench_server_vllm_time_to_first_token_seconds_quantile{${BASE},quantile="${q}",bound="${bound}"} ${value}`;
    expect(found.slice(7)).toEqual(
      ['0.5', '0.9', '0.95', '0.99'].flatMap((q) => [
        quantile(q, 'low', 0.15),
        quantile(q, 'estimate', 0.2),
        quantile(q, 'high', 0.5),
      ]),
    );
  });

  test('in the overflow bucket the upper bound is infinite', () => {
    const overflow = histogram(
      'vllm:time_to_first_token_seconds',
      { count: 1, buckets: [['+Inf', 1]] },
      { estimate: 2560, bounds: [2560, null], bounds_by_sum: null },
    );
    const p99 = lines([overflow]).filter((line) => line.includes('quantile="0.99"'));
    expect(p99.map((line) => line.split(' ').at(-1))).toEqual(['2560', '2560', '+Inf']);
  });

  test('other units become base units, in values, bounds and names', () => {
    const series = [
      histogram(
        'nv_inference_first_response_histogram_ms',
        { count: 3, sum: 210, buckets: [['70', 2], ['+Inf', 3]] }, // prettier-ignore
        { estimate: 70, bounds: [0, 70], bounds_by_sum: null },
        { unit: 'milliseconds' },
      ),
      counter('nv_inference_queue_duration_us', 1500, { unit: 'microseconds' }),
      counter('nv_inference_request_success', 3, { unit: 'requests' }),
    ];
    const found = lines(series, [], 'triton').filter((line) => !line.includes('quantile="0.9'));
    expect(found.map((line) => line.replace(/run_id.*metrics",?/, ''))).toEqual([
      '# TYPE llmbench_server_nv_inference_first_response_seconds histogram',
      'llmbench_server_nv_inference_first_response_seconds_bucket{le="0.07"} 2',
      'llmbench_server_nv_inference_first_response_seconds_bucket{le="+Inf"} 3',
      'llmbench_server_nv_inference_first_response_seconds_sum{} 0.21',
      'llmbench_server_nv_inference_first_response_seconds_count{} 3',
      '# TYPE llmbench_server_nv_inference_first_response_seconds_quantile untyped',
      'llmbench_server_nv_inference_first_response_seconds_quantile{quantile="0.5",bound="low"} 0',
      'llmbench_server_nv_inference_first_response_seconds_quantile{quantile="0.5",bound="estimate"} 0.07',
      'llmbench_server_nv_inference_first_response_seconds_quantile{quantile="0.5",bound="high"} 0.07',
      '# TYPE llmbench_server_nv_inference_queue_duration_seconds_total counter',
      'llmbench_server_nv_inference_queue_duration_seconds_total{} 0.0015',
      '# TYPE llmbench_server_nv_inference_request_success_total counter',
      'llmbench_server_nv_inference_request_success_total{} 3',
    ]);
  });

  test('labels of the server that collide with ours become exported_…, also repeatedly', () => {
    const labels = { run_id: 'theirs', target: 't', stat: 's', exported_stat: 'e', __secret: 'x', engine: '0' };
    expect(lines([gauge('vllm:num_requests_running', 1, 1, { labels })])[1]).toBe(
      `llmbench_server_vllm_num_requests_running{${BASE},exported_run_id="theirs",exported_target="t",` +
        'exported_exported_stat="s",exported_stat="e",exported_secret="x",engine="0",stat="mean"} 1',
    );
  });

  test('names that are invalid in the text format become valid ones, each a label of its own', () => {
    const labels = { 'a b"} 1\n': 'x', a_b___1_: 'y', '0': 'z', __a: '1', ___a: '2' };
    expect(lines([counter('vllm:prompt_tokens_total', 1, { labels })])[1]).toBe(
      `llmbench_server_vllm_prompt_tokens_total{${BASE},_0="z",exported_a_b___1_="x",a_b___1_="y",exported_a="1",` +
        'exported_exported_a="2"} 1',
    );
  });

  test('what is missing stays missing', () => {
    const nothing = histogram('vllm:time_to_first_token_seconds', { count: null, sum: null, percentiles: null }, NONE);
    expect(lines([counter('vllm:prompt_tokens_total', null), nothing])).toEqual([]);
    expect(lines([counter('vllm:prompt_tokens_total', 1, { statistics: null })])).toEqual([]);
    const aiperf = { kind: 'aiperf', stats: { total: 1 }, buckets: null } as const;
    expect(lines([counter('vllm:prompt_tokens_total', 1, { statistics: aiperf })])).toEqual([]);
  });

  test('a series on two pages is published once', () => {
    const repeats = 'http://gpu-2:8000/metrics';
    expect(lines([counter('vllm:prompt_tokens_total', 1, { repeats })])).toEqual([]);
  });

  test('only the common vocabulary, unless patterns ask for more', () => {
    const series = [counter('vllm:preemptions_total', 2), counter('other_total', 3)];
    expect(lines(series)).toEqual([]);
    expect(lines(series, ['vllm:*'])).toContain(`llmbench_server_vllm_preemptions_total{${BASE}} 2`);
    expect(lines(series, ['vllm:*'])).toHaveLength(2);
    expect(lines(series, ['*_total'])).toHaveLength(4);
    expect(lines(series, ['vllm.*', 'vllm:'])).toEqual([]);
  });

  test('of a family with a choice of series only those of the vocabulary', () => {
    const cached = (cache_source: string) => counter('sglang:cached_tokens_total', 5, { labels: { cache_source } });
    const found = lines([cached('device'), cached('total')], [], 'sglang');
    expect(found).toHaveLength(2);
    expect(found[1]).toContain('cache_source="total"');
  });

  test("an engine's family on a gateway's page belongs to the engine", () => {
    expect(lines([counter('vllm:prompt_tokens_total', 1)], [], 'dynamo')[1]).toContain('system="vllm"');
  });

  test('the vocabulary has at most 20 families of a system', () => {
    const families = quantities().flatMap((quantity) => quantity.families);
    const bySystem = Object.groupBy(families, ({ system }) => system);
    for (const [system, group = []] of Object.entries(bySystem)) {
      expect([system, new Set(group.map(({ family }) => family)).size <= 20]).toEqual([system, true]);
    }
  });
});

const NONE = { estimate: null, bounds: null, bounds_by_sum: null };
