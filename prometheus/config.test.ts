import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { renderPrometheusConfig } from './config.ts';

/** A step of relabeling; the action is to replace, unless it is stated. */
interface Relabeling {
  readonly source_labels: readonly string[];
  readonly regex: string;
  readonly action?: 'drop';
  readonly target_label?: string;
  readonly replacement?: string;
}

/** The labels of a sample after relabeling as Prometheus does it; null: dropped. */
function relabeled(
  steps: readonly Relabeling[],
  sample: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | null {
  let labels = sample;
  for (const { source_labels, regex, action, target_label = '', replacement = '' } of steps) {
    const value = source_labels.map((label) => labels[label] ?? '').join(';');
    const whole = new RegExp(`^(?:${regex})$`, 's');
    if (!whole.test(value)) continue;
    if (action === 'drop') return null;
    labels = { ...labels, [target_label]: value.replace(whole, replacement) };
  }
  return labels;
}

interface Config {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly scrape_interval: string;
    readonly honor_labels?: boolean;
    readonly static_configs?: readonly { readonly targets: readonly string[] }[];
    readonly metric_relabel_configs?: readonly Relabeling[];
    readonly http_sd_configs?: readonly { readonly url: string; readonly refresh_interval: string }[];
  }[];
}

describe('renderPrometheusConfig', () => {
  test('by default gives the committed prometheus.yml (else: node prometheus/generate.ts)', async () => {
    const committed = await readFile(new URL('prometheus.yml', import.meta.url), 'utf8');
    expect(renderPrometheusConfig()).toBe(committed);
  });

  test('scrapes what changes every 5 s, results every minute, live runs every 2 s, and looks for runs every 5 s', () => {
    const config = parse(renderPrometheusConfig()) as Config;
    expect(config.rule_files).toEqual(['rules/*.yml', 'alerts/*.yml']);
    const [current, results, discovered] = config.scrape_configs;
    const static_configs = [{ targets: ['127.0.0.1:9469'] }];
    expect(current).toMatchObject({ scrape_interval: '5s', params: { 'collect[]': ['current'] }, static_configs });
    expect(results).toMatchObject({ scrape_interval: '60s', params: { 'collect[]': ['results'] }, static_configs });
    expect(discovered).toMatchObject({
      scrape_interval: '2s',
      honor_labels: false,
      http_sd_configs: [{ url: 'http://127.0.0.1:9469/sd', refresh_interval: '5s' }],
    });
  });

  test('takes other addresses and paths, also ones that YAML would misread', () => {
    const options = { exporterAddress: '[::1]:41000', ruleFiles: ["/srv/a: b #c/'rules'/*.yml", '/srv/alerts.yml'] };
    const config = parse(renderPrometheusConfig(options)) as Config;
    expect(config.rule_files).toEqual(options.ruleFiles);
    expect(config.scrape_configs[0]?.static_configs?.[0]?.targets).toEqual(['[::1]:41000']);
    expect(config.scrape_configs[1]?.static_configs?.[0]?.targets).toEqual(['[::1]:41000']);
    expect(config.scrape_configs[2]?.http_sd_configs?.[0]?.url).toBe('http://[::1]:41000/sd');
  });

  test('sends the alerts to an Alertmanager, when there is one', () => {
    expect(parse(renderPrometheusConfig())).not.toHaveProperty('alerting');
    const options = { exporterAddress: 'e:9469', ruleFiles: [], alertmanagerAddress: '127.0.0.1:9093' };
    expect(parse(renderPrometheusConfig(options))).toMatchObject({
      alerting: { alertmanagers: [{ static_configs: [{ targets: ['127.0.0.1:9093'] }] }] },
    });
  });

  test.each([
    ['SGLang through OpenMetrics', { __name__: 'sglang_token_usage' }, 'sglang:token_usage'],
    ['vLLM inside Ray', { __name__: 'ray_vllm_num_requests_running' }, 'vllm:num_requests_running'],
    ['a sum of Ray', { __name__: 'ray_vllm_x_sum', otel_scope_name: 'ray._private.telemetry' }, undefined],
    [
      'TensorRT-LLM before 1.3.0',
      { __name__: 'time_to_first_token_seconds_bucket', engine_type: 'undefined' },
      'trtllm_time_to_first_token_seconds_bucket',
    ],
    [
      'a counter of TensorRT-LLM before 1.3.0',
      { __name__: 'request_success_total', engine_type: 'undefined' },
      'trtllm_request_success_total',
    ],
    ['NIM', { __name__: 'time_to_first_token_seconds_bucket' }, 'time_to_first_token_seconds_bucket'],
    [
      'TensorRT-LLM today',
      { __name__: 'trtllm_request_success_total', engine_type: 'pytorch' },
      'trtllm_request_success_total',
    ],
    [
      "SGLang's own label of that name",
      { __name__: 'sglang:token_usage', engine_type: 'unified' },
      'sglang:token_usage',
    ],
  ])('gives families the names of the engine: %s', (_case, sample, expected) => {
    const { scrape_configs } = parse(renderPrometheusConfig()) as Config;
    const steps = scrape_configs[2]?.metric_relabel_configs ?? [];
    expect(relabeled(steps, sample)?.['__name__']).toBe(expected);
  });
});
