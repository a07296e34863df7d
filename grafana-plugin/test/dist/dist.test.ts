import { existsSync, readdirSync, readFileSync, statSync } from 'fs';
import { join, relative } from 'path';

/** The built plugin, as it is zipped and as Grafana finds it. */
const DIST = join(__dirname, '../../dist');

interface PluginJson {
  id: string;
  type: string;
  buildMode: string;
  info: { version: string; updated: string; logos: Record<string, string>; screenshots?: Array<{ path: string }> };
  includes?: Array<{ type: string; path: string }>;
  dependencies: { grafanaDependency: string };
}

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
];

test('holds these files and no others: no source maps, no fixtures, no tests', () => {
  const fixed = all.filter((file) => !/^\d+\.js$/.test(file));
  expect(fixed.sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'img/logo.svg',
    'img/screenshot-percentiles.png',
    'module.js',
    'panels/percentiles/img/logo.svg',
    'panels/percentiles/module.js',
    'panels/percentiles/plugin.json',
    'plugin.json',
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
  });

  test('has a module and the pictures that it names', () => {
    const pictures = [...Object.values(plugin.info.logos), ...(plugin.info.screenshots ?? []).map(({ path }) => path)];
    for (const file of ['module.js', ...pictures]) {
      expect([file, existsSync(join(DIST, folder, file))]).toEqual([file, true]);
    }
  });
});

test('the app includes its panel and its page', () => {
  const includes = json<PluginJson>('plugin.json').includes ?? [];
  expect(includes.map(({ type, path }) => [type, path])).toEqual([
    ['page', '/a/llmbench-observability-app'],
    ['panel', 'panels/percentiles/plugin.json'],
  ]);
  expect(existsSync(join(DIST, 'panels/percentiles/plugin.json'))).toBe(true);
});

test("the code leaves Grafana's shared modules out and is small", () => {
  for (const file of all.filter((name) => name.endsWith('.js'))) {
    expect([file, statSync(join(DIST, file)).size < 100_000]).toEqual([file, true]);
  }
  const total = all.reduce((bytes, file) => bytes + statSync(join(DIST, file)).size, 0);
  expect(total).toBeLessThan(2_000_000);
});
