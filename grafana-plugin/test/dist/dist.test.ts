import { existsSync, readdirSync, readFileSync, statSync } from 'fs';
import { join, relative } from 'path';
import { gzipSync } from 'zlib';
import { paths, type PluginJson, pluginJsonFaults } from './plugin-json';

/** The built plugin, as it is zipped and as Grafana finds it. */
const DIST = join(__dirname, '../../dist');
const SOURCES = join(__dirname, '../../src');
const PROJECT = join(__dirname, '../../..');

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [relative(DIST, join(folder, entry.name))]
  );
}

function json<T>(path: string): T {
  return JSON.parse(readFileSync(join(DIST, path), 'utf8'));
}

const version = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')).version;
const all = files(DIST);
const PLUGINS: Array<[folder: string, id: string, type: string]> = [
  ['', 'llmbench-observability-app', 'app'],
  ['panels/percentiles', 'llmbench-percentiles-panel', 'panel'],
  ['datasources/runs', 'llmbench-runs-datasource', 'datasource'],
];
const DASHBOARDS = ['benchmark', 'dynamo', 'llm-d-epp', 'sglang', 'triton', 'trtllm', 'vllm'].map(
  (name) => `dashboards/llmbench-${name}-app.json`
);
const RUNBOOKS = readdirSync(join(PROJECT, 'docs/runbooks'))
  .sort()
  .map((file) => `runbooks/${file}`);
const code = all.filter((name) => name.endsWith('.js'));

test('holds these files and no others: no fixtures, no tests', () => {
  const fixed = all.filter((file) => !/^\d+\.js(\.map)?$/.test(file));
  expect(fixed.sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'THIRD_PARTY_LICENSES.txt',
    'catalog/histogram-families.json',
    ...DASHBOARDS,
    'datasources/runs/img/logo.svg',
    'datasources/runs/module.js',
    'datasources/runs/module.js.map',
    'datasources/runs/plugin.json',
    'img/logo.svg',
    'img/screenshot-alerts.png',
    'img/screenshot-buckets.png',
    'img/screenshot-compare.png',
    'img/screenshot-overview.png',
    'img/screenshot-percentiles.png',
    'img/screenshot-run.png',
    'img/screenshot-runs.png',
    'img/screenshot-servers.png',
    'img/screenshot-sweeps.png',
    'img/screenshot-trends.png',
    'locales/en-US/llmbench-observability-app.json',
    'module.js',
    'module.js.map',
    'panels/percentiles/img/logo.svg',
    'panels/percentiles/module.js',
    'panels/percentiles/module.js.map',
    'panels/percentiles/plugin.json',
    'plugin.json',
    ...RUNBOOKS,
  ]);
});

describe.each(PLUGINS)('plugin in "%s"', (folder, id, type) => {
  const plugin = json<PluginJson>(join(folder, 'plugin.json'));

  test('has its id, type and version', () => {
    expect(plugin).toMatchObject({ id, type, buildMode: 'production' });
    expect(plugin.info.version).toBe(version);
    expect(plugin.info.updated).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(plugin.dependencies.grafanaDependency).toBe('>=12.3.0');
    expect(JSON.stringify(plugin)).not.toContain('%');
    expect(pluginJsonFaults(plugin)).toEqual([]);
  });

  test('has a module and the pictures that it names', () => {
    for (const file of ['module.js', ...paths(plugin)]) {
      expect([file, existsSync(join(DIST, folder, file))]).toEqual([file, true]);
    }
  });
});

test("Grafana's proxy forwards what changes something for editors only", () => {
  const { routes } = json<{ routes: object[] }>('datasources/runs/plugin.json');
  // Without `url` and `headers`, such a request goes where the others go.
  expect(routes).toEqual([
    { path: 'api', method: 'POST', reqRole: 'Editor' },
    // A probe starts a run, although it is a GET.
    { path: 'probe', reqRole: 'Editor' },
  ]);
});

test('the app includes its plugins and its pages, and every include is there', () => {
  const includes = json<PluginJson>('plugin.json').includes ?? [];
  expect(includes.map(({ type, path }) => [type, path])).toEqual([
    ['page', '/a/llmbench-observability-app/overview'],
    ['page', '/a/llmbench-observability-app/runs'],
    ['page', '/a/llmbench-observability-app/compare'],
    ['page', '/a/llmbench-observability-app/trends'],
    ['page', '/a/llmbench-observability-app/sweeps'],
    ['page', '/a/llmbench-observability-app/alerts'],
    ['page', '/a/llmbench-observability-app/servers'],
    ['page', '/a/llmbench-observability-app/buckets'],
    ['page', '/a/llmbench-observability-app/setup'],
    ['panel', 'panels/percentiles/plugin.json'],
    ['datasource', 'datasources/runs/plugin.json'],
  ]);
  for (const { path } of includes.filter(({ type }) => type !== 'page')) {
    expect([path, existsSync(join(DIST, path))]).toEqual([path, true]);
  }
});

test('bundled dashboards can be provisioned with the others, and fix no data source', () => {
  for (const path of DASHBOARDS) {
    const text = readFileSync(join(DIST, path), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ id: null, uid: expect.stringMatching(/-app$/) });
    expect(text).toContain('${datasource}');
  }
});

test('the readme and the changelog have no template text or comments, and name the version', () => {
  const readme = readFileSync(join(DIST, 'README.md'), 'utf8');
  expect(readme).not.toMatch(/<!--|This is a starting point|yarn|TODO/);
  expect(readFileSync(join(DIST, 'CHANGELOG.md'), 'utf8')).toContain(version);
  expect(readFileSync(join(DIST, 'LICENSE'), 'utf8')).toContain('Apache License');
});

test('the readme and the changelog link to nothing that is not in the plugin', () => {
  for (const file of ['README.md', 'CHANGELOG.md']) {
    const links = [...readFileSync(join(DIST, file), 'utf8').matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target);
    expect([file, links.filter((target) => !/^https:\/\//.test(target ?? ''))]).toEqual([file, []]);
  }
});

test('what is bundled has a license that goes with Apache-2.0, and its text is there', () => {
  const entries = readFileSync(join(DIST, 'THIRD_PARTY_LICENSES.txt'), 'utf8').split(/^== /m).slice(1);
  expect(entries.length).toBeGreaterThan(10);
  for (const entry of entries) {
    const [title = '', ...text] = entry.split('\n');
    expect(title).toMatch(/: (MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|Unlicense)$/);
    expect([title, text.join('\n').trim().length > 100]).toEqual([title, true]);
  }
});

test('pictures are PNGs of at most 150 KB', () => {
  for (const file of all.filter((name) => name.endsWith('.png'))) {
    const bytes = readFileSync(join(DIST, file));
    expect([file, bytes.subarray(1, 4).toString(), bytes.length < 150_000]).toEqual([file, 'PNG', true]);
  }
});

test('bundles evaluate no strings, send no telemetry and contain no path of the build machine', () => {
  const forbidden = /\beval\(|new Function\(|new XMLHttpRequest|new WebSocket|sendBeacon|google-analytics/;
  for (const file of code) {
    const text = readFileSync(join(DIST, file), 'utf8');
    expect([file, forbidden.exec(text)?.[0] ?? null, text.includes(PROJECT)]).toEqual([file, null, false]);
  }
});

test("each program has the source map that Grafana's validator requires, without a path of the build machine", () => {
  for (const file of code) {
    const map = readFileSync(join(DIST, `${file}.map`), 'utf8');
    const { sources } = JSON.parse(map) as { sources: string[] };
    expect([file, sources.length > 0, map.includes(PROJECT)]).toEqual([file, true, false]);
  }
});

test('logos are plain drawings', () => {
  for (const file of all.filter((name) => name.endsWith('.svg'))) {
    expect([file, /<script|<foreignObject|on\w+=|href=/i.test(readFileSync(join(DIST, file), 'utf8'))]).toEqual([file, false]);
  }
});

test("no secrets, no eval, no network of its own: the plugin's sources go through Grafana", () => {
  const forbidden =
    /\beval\(|new Function\(|XMLHttpRequest|new WebSocket|\bfetch\(['"`]|sendBeacon|document\.|localStorage|console\.|dangerouslySetInnerHTML|glsa_|eyJ[A-Za-z0-9]{10}/;
  const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  for (const file of sources.filter((name) => /(?<!\.test)\.tsx?$/.test(name))) {
    expect([file, forbidden.exec(readFileSync(join(SOURCES, file), 'utf8'))?.[0] ?? null]).toEqual([file, null]);
  }
});

test('what is loaded first is small, no chunk is large, and so is the whole', () => {
  expect(gzipSync(readFileSync(join(DIST, 'module.js'))).length).toBeLessThan(60_000);
  for (const file of code) {
    expect([file, statSync(join(DIST, file)).size < 500_000]).toEqual([file, true]);
  }
  // Zipped it is smaller than the sum of its files compressed alone.
  const loaded = all.filter((name) => !name.endsWith('.map'));
  const total = loaded.reduce((bytes, file) => bytes + gzipSync(readFileSync(join(DIST, file))).length, 0);
  expect(total).toBeLessThan(2_000_000);
});
