import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { COMPOSE_PROMETHEUS_CONFIG, renderPrometheusConfig } from '../prometheus/config.ts';
import { RUN_OPTIONS } from '../exporter/cli/options/run-options.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');

interface Service {
  readonly image?: string;
  readonly user?: string;
  readonly entrypoint?: readonly string[];
  readonly healthcheck?: { readonly disable?: boolean };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The file as Compose reads it with these environment variables. */
function composed(environment: Readonly<Record<string, string>>) {
  const text = read('docker-compose.yml').replaceAll(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name: string, otherwise: string) => environment[name] ?? otherwise,
  );
  return parse(text, { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: Readonly<Record<string, unknown>>;
  };
}

const compose = composed({});
const { services } = compose;

test('the file is valid by the Compose specification', () => {
  // Its $schema is the address of draft 7 with https, which ajv does not recognize; the formats are Compose's own.
  const schema = JSON.parse(read('tests/fixtures/compose-spec/compose-spec.json')) as Record<string, unknown>;
  delete schema['$schema'];
  const formats = { expose: true, ports: true, subnet_ip_address: true, duration: true } as const;
  const validate = new Ajv({ strict: false, formats }).compile(schema);
  validate(compose);
  expect(validate.errors ?? []).toEqual([]);
  expect(validate({ ...compose, services: { simulator: { comand: [] } } })).toBe(false);
});

test('a service waits only for services that can become what it waits for', () => {
  const built = (service: Service | undefined): boolean => service?.image === 'llmbench';
  for (const { depends_on = {} } of Object.values(services)) {
    for (const [name, { condition }] of Object.entries(depends_on)) {
      const service = services[name];
      if (condition === 'service_completed_successfully') expect(service?.entrypoint).toBeDefined();
      // The image has a health check of its own.
      else expect(service?.healthcheck?.disable !== true && (built(service) || service?.healthcheck)).toBeTruthy();
    }
  }
});

test("the stack's Prometheus configuration is the project's own, for the stack's names", () => {
  expect(read('deploy/prometheus.yml')).toBe(renderPrometheusConfig(COMPOSE_PROMETHEUS_CONFIG));
  const [host = ''] = COMPOSE_PROMETHEUS_CONFIG.exporterAddress.split(':');
  expect(Object.keys(services)).toContain(host);
});

/** What the services mount: folders and volumes. */
function mountsOf(all: Readonly<Record<string, Service>>): string[] {
  return Object.values(all)
    .flatMap((service) => service.volumes ?? [])
    .map((volume) => volume.split(':')[0] ?? '');
}

test('every folder that is mounted is in the repository, and every volume is declared', () => {
  const sources = mountsOf(services);
  const folders = sources.filter((source) => source.startsWith('./'));
  expect(folders.length).toBeGreaterThan(3);
  expect(folders.filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
  expect(new Set(sources.filter((source) => !source.startsWith('./')))).toEqual(new Set(Object.keys(compose.volumes)));
});

test('the folders for native histograms can be mounted, as the head of the file states', () => {
  const [line = ''] = /LLMBENCH_\w+=.+ docker compose up/.exec(read('docker-compose.yml')) ?? [];
  const settings = [...line.matchAll(/(LLMBENCH_\w+)=(\S+)/g)].map(([, name = '', path = '']) => [name, path] as const);
  const environment: Readonly<Record<string, string>> = Object.fromEntries(settings);
  const changed = mountsOf(composed(environment).services).filter((source) => !mountsOf(services).includes(source));
  expect(changed).toEqual(['./prometheus/native/rules', './prometheus/native/dashboards']);
  expect(changed.filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
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
  const sources = read('grafana-plugin/provisioning/datasources/llmbench.yaml');
  const used = [...sources.matchAll(/^[^#\n]*\$([A-Z_]+)/gm)].map(([, name]) => name ?? '');
  expect(used.map((name) => new URL(environment[name] ?? '').hostname)).toEqual(['prometheus', 'exporter']);
  expect(Object.keys(services)).toEqual(expect.arrayContaining(['prometheus', 'exporter']));
  const { providers } = parse(read('grafana-plugin/provisioning/dashboards/llmbench.yaml')) as {
    providers: readonly { readonly options: { readonly path: string } }[];
  };
  const app = services['grafana']?.volumes?.find((volume) => volume.startsWith('plugin:'))?.split(':')[1] ?? '';
  const [own, ofApp] = providers.map(({ options }) => options.path);
  expect(volumes).toContain(`./dashboards:${own}:ro`);
  expect(ofApp).toBe(`${app}/dashboards`);
  const { apps } = parse(read('grafana-plugin/provisioning/plugins/llmbench.yaml')) as {
    apps: readonly { readonly type: string }[];
  };
  for (const { type } of apps) expect(volumes).toContain(`plugin:/var/lib/grafana/plugins/${type}:ro`);
});
