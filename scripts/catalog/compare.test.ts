import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import type { Catalog, CatalogFamily } from '../../catalog/types.ts';
import { compareRelease } from './compare.ts';
import { goDefinitions, nameGroups } from './definitions.ts';
import { compareServer } from './pages.ts';

const family = (name: string, more: Partial<CatalogFamily> = {}): CatalogFamily => ({
  name,
  type: 'gauge',
  unit: 'requests',
  labels: ['pool'],
  group: 'queue',
  help: 'h',
  exposed: 'always',
  when: 'always',
  ...more,
});

const catalog = (families: readonly CatalogFamily[]): Catalog => ({
  system: 'x',
  title: 'X',
  role: 'engine',
  default_endpoint: { port: 1, path: '/metrics' },
  detect: ['x_'],
  source: 's',
  common_labels: [],
  families,
  notes: [],
});

/** As client_golang is used: names in parts, labels in variables, options over several lines. */
const SOURCE = `
const Subsystem = "x"
var poolLabels = []string{"pool"}
var a = prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: Subsystem, Name: "queue_size", Help: "a, b"}, poolLabels)
var b = prometheus.NewHistogramVec(
	prometheus.HistogramOpts{
		Subsystem: Subsystem,
		Name:      "wait_seconds", // not "other"
		Buckets:   []float64{0.1, 1, 10},
	},
	append(append([]string{}, poolLabels...), "outcome"),
)
var c = prometheus.NewDesc("x_size", "help", []string{"name"}, nil)
`;

test('reads the definitions of Go sources', () => {
  const found = goDefinitions([{ path: 'm.go', text: SOURCE }]);
  expect(found).toEqual([
    { name: 'x_queue_size', type: 'gauge', labels: ['pool'], bounds: null, at: 'm.go:4' },
    { name: 'x_wait_seconds', type: 'histogram', labels: ['pool', 'outcome'], bounds: [0.1, 1, 10], at: 'm.go:5' },
    { name: 'x_size', type: null, labels: ['name'], bounds: null, at: 'm.go:13' },
  ]);
});

test('states what is new, gone and changed in a release, for the releases that have it', () => {
  const definitions = goDefinitions([{ path: 'm.go', text: SOURCE }]);
  const release = {
    definitions,
    groups: [],
    quoted: new Set(['queue_size', 'wait_seconds', 'x_size']),
    begins: /^x_/,
    unreadable: null,
  };
  const known = catalog([
    family('x_queue_size'),
    family('x_wait_seconds', { type: 'histogram', per: 'request', buckets: [0.1, 1] }),
    family('x_gone'),
    family('x_came_later', { since: '2.1' }),
    family('x_went_before', { exposed: 'other_release', until: '1.5' }),
    family('process_cpu_seconds_total'),
  ]);
  expect(compareRelease([known], '2.0', release).map(({ kind, family: name }) => `${kind} ${name}`)).toEqual([
    'bounds x_wait_seconds',
    'labels x_wait_seconds',
    'new x_size',
    'vanished x_gone',
  ]);
});

/** As Dynamo names its metrics: the beginning is added where a metric is made. */
const NAMES = `
pub mod name_prefix {
    pub const FRONTEND: &str = "x_front";
}

pub mod frontend {
    /// A comment
    pub const STARTED_TOTAL: &str = "requests_started_total";
    pub const READY: &str =
        "model_ready";
    pub const TOTAL: &str = "requests_total";

    pub mod status {
        pub const OK: &str = "all_good";
    }
}
`;

test('puts names together from constants of Rust sources, by those that are known', () => {
  const groups = nameGroups([{ path: 'src/prometheus_names.rs', text: NAMES }]);
  expect(groups.map(({ module, endings }) => [module, endings.map(({ text }) => text)])).toEqual([
    ['frontend', ['requests_started_total', 'model_ready', 'requests_total']],
  ]);
  const release = { definitions: [], groups, quoted: new Set(['requests_total']), begins: /^x_/, unreadable: null };
  const known = catalog([family('x_front_requests_total'), family('x_front_requests_started_total', { since: '3.0' })]);
  expect(compareRelease([known], '2.0', release).map(({ kind, family: name }) => `${kind} ${name}`)).toEqual([
    'new x_front_model_ready',
    'new x_front_requests_started_total',
  ]);
});

/** As clients write it: times of creation, other families, bounds with the last digits of a calculation. */
const PAGE = `# TYPE x_queue_size gauge
x_queue_size{pool="a",shard="0"} 1
# TYPE x_done counter
x_done_total 3
# TYPE x_done_created gauge
x_done_created 1700000000
# TYPE x_wait_seconds histogram
x_wait_seconds_bucket{pool="a",le="0.30000000000000004"} 1
x_wait_seconds_bucket{pool="a",le="+Inf"} 1
x_wait_seconds_count{pool="a"} 1
x_wait_seconds_sum{pool="a"} 0.2
# TYPE x_unheard gauge
x_unheard 1
# TYPE go_goroutines gauge
go_goroutines 7
`;

test('states how the page of a running server differs, and misses only what is always there', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(PAGE);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const known = catalog([
      family('x_queue_size'),
      family('x_done_total', { type: 'counter', labels: [] }),
      family('x_wait_seconds', { type: 'histogram', per: 'request', buckets: [0.3] }),
      family('x_gone'),
      family('x_not_used', { exposed: 'on_use' }),
    ]);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
    const differences = await compareServer([known], '2.0', [url]);
    expect(differences.map(({ kind, family: name, detail }) => `${kind} ${name}: ${detail}`)).toEqual([
      `labels x_queue_size: also shard in ${url}`,
      `new x_unheard: gauge {} in ${url}`,
      'vanished x_gone: in the catalog since the oldest release',
    ]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
