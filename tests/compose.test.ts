import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { COMPOSE_PROMETHEUS_CONFIG, renderPrometheusConfig } from '../prometheus/config.ts';
import { RUN_OPTIONS } from '../exporter/cli/run-options.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');

interface Service {
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const { services } = parse(read('docker-compose.yml')) as { services: Readonly<Record<string, Service>> };

test("the stack's Prometheus configuration is the project's own, for the stack's names", () => {
  expect(read('deploy/prometheus.yml')).toBe(renderPrometheusConfig(COMPOSE_PROMETHEUS_CONFIG));
  const [host = ''] = COMPOSE_PROMETHEUS_CONFIG.exporterAddress.split(':');
  expect(Object.keys(services)).toContain(host);
});

test('every folder that is mounted is in the repository; the built plugin is made by npm run plugin:build', () => {
  const mounted = Object.values(services).flatMap((service) => service.volumes ?? []);
  const paths = mounted.flatMap((volume) => (volume.startsWith('./') ? [volume.split(':')[0] ?? ''] : []));
  const built = './grafana-plugin/dist';
  expect(paths).toContain(built);
  expect(paths.filter((path) => path !== built && !existsSync(`${root}/${path}`))).toEqual([]);
});

test('the benchmark is started with options that exist', () => {
  const flags = (services['benchmark']?.command ?? []).slice(1).map((flag) => flag.slice(2).split('=')[0] ?? '');
  expect(flags.length).toBeGreaterThan(5);
  expect(flags.filter((flag) => !Object.hasOwn(RUN_OPTIONS, flag))).toEqual([]);
});

test('Grafana may load the app and every plugin nested in it', () => {
  const idOf = (path: string): string => (JSON.parse(read(path)) as { id: string }).id;
  const folders = ['', 'panels/percentiles/', 'datasources/runs/'];
  const ids = folders.map((folder) => idOf(`grafana-plugin/src/${folder}plugin.json`));
  const allowed = services['grafana']?.environment?.['GF_PLUGINS_ALLOW_LOADING_UNSIGNED_PLUGINS']?.split(',');
  expect(allowed?.sort()).toEqual(ids.sort());
});

test('what is provisioned is where the stack has it: addresses, dashboards, the app', () => {
  const environment = services['grafana']?.environment ?? {};
  const volumes = services['grafana']?.volumes ?? [];
  const sources = read('provisioning/datasources/llmbench.yaml');
  const used = [...sources.matchAll(/^[^#\n]*\$([A-Z_]+)/gm)].map(([, name]) => name ?? '');
  expect(used.map((name) => new URL(environment[name] ?? '').hostname)).toEqual(['prometheus', 'exporter']);
  expect(Object.keys(services)).toEqual(expect.arrayContaining(['prometheus', 'exporter']));
  const { providers } = parse(read('provisioning/dashboards/llmbench.yaml')) as {
    providers: readonly { readonly options: { readonly path: string } }[];
  };
  for (const { options } of providers) expect(volumes).toContain(`./dashboards:${options.path}:ro`);
  const { apps } = parse(read('provisioning/plugins/llmbench.yaml')) as { apps: readonly { readonly type: string }[] };
  for (const { type } of apps) expect(volumes).toContain(`./grafana-plugin/dist:/var/lib/grafana/plugins/${type}:ro`);
});
