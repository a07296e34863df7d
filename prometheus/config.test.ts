import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { renderPrometheusConfig } from './config.ts';

interface Config {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly scrape_interval: string;
    readonly honor_labels?: boolean;
    readonly static_configs?: readonly { readonly targets: readonly string[] }[];
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
});
