import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { unzipSync } from 'fflate';
import type { ResultFile } from '../core/run/result.ts';
import type { ClassicDashboard } from '../dashboards/classic-json.ts';
import { isExcepted, LINT_EXCEPTIONS } from '../dashboards/lint-exceptions.ts';
import { lint } from '../dashboards/lint.ts';
import { VERSION } from '../exporter/cli/version.ts';
import { announced, start } from './llmbench.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const MINUTES = 60_000;
let folder: string;
/** The folder with what a release publishes. */
let release: string;

/** What `npm run release` makes of the npm package and the dashboards; the package is installed where nothing else is. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'llmbench-release-'));
  release = join(folder, 'release');
  const script = join(root, 'scripts/release/release.ts');
  const args = [script, '--dry-run', '--only', 'package,chart,dashboards', '--out', release];
  execFileSync(process.execPath, args, { cwd: root, stdio: 'pipe' });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  const tarball = join(release, `llmbench-observability-${VERSION}.tgz`);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', tarball], {
    cwd: folder,
    stdio: 'pipe',
  });
}, 5 * MINUTES);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A simulated server of the installed package. */
async function simulator(): Promise<{ readonly url: string; readonly stop: () => Promise<unknown> }> {
  const launcher = join(folder, 'node_modules/llmbench-observability/bin/llmbench.js');
  const { child, ended } = start(['simulate', '--port', '0', '--json'], { cwd: folder, launcher });
  const { url } = await announced({ child, ended });
  const stop = (): Promise<unknown> => {
    child.kill('SIGTERM');
    return ended;
  };
  return { url, stop };
}

test(
  'it performs a whole run with what it brings',
  async () => {
    const { url, stop } = await simulator();
    try {
      const args = [
        'run',
        '--url',
        url,
        '--model',
        'sim-model',
        '--concurrency',
        '2',
        '--request-count',
        '4',
        '--osl',
        '8',
        '--json',
      ];
      // npx finds the bin as a user's shell would; Node 24 must be the one that it runs on.
      const run = spawnSync('npx', ['llmbench', ...args], { cwd: folder, encoding: 'utf8' });
      expect({ status: run.status, complaint: run.status === 0 ? '' : run.stderr }).toEqual({
        status: 0,
        complaint: '',
      });
      expect((JSON.parse(run.stdout) as ResultFile).requests.ok).toBe(4);
      expect(readdirSync(join(folder, 'runs')).filter((name) => !name.startsWith('.'))).toHaveLength(1);
    } finally {
      await stop();
    }
  },
  2 * MINUTES,
);

/** What a user writes; every import is of the package. */
const PROGRAM = `
import { parseExposition, classicHistograms, histogramDelta, quantileBounds, runBenchmark, compareRuns, BenchmarkError } from 'llmbench-observability';
import type { BenchmarkOptions, ClassicHistogram, Judgment, ResultFile } from 'llmbench-observability';
import { blockBootstrap, percentile } from 'llmbench-observability/core';

const page = (counts: readonly number[]): Uint8Array => new TextEncoder().encode([
  '# TYPE ttft_seconds histogram',
  ...counts.map((count, i) => \`ttft_seconds_bucket{le="\${['0.1', '0.2', '+Inf'][i]}"} \${count}\`),
  \`ttft_seconds_count \${counts.at(-1)}\`, 'ttft_seconds_sum 0', '',
].join('\\n'));
const histogramOf = (counts: readonly number[]): ClassicHistogram => {
  const exposition = parseExposition(page(counts), 'text/plain; version=0.0.4');
  const family = exposition.family('ttft_seconds');
  const series = family && classicHistograms(exposition, family)[0];
  if (series === undefined) throw new Error('no series');
  return series;
};
const delta = histogramDelta(histogramOf([5, 7, 9]), histogramOf([7, 15, 17]));
const bounds = delta && quantileBounds(0.5, delta.histogram);

const options: BenchmarkOptions = { url: process.argv[2]!, model: 'sim-model', concurrency: 2, requestCount: 4, osl: 8, runsDir: 'library-runs' };
const run = await runBenchmark(options);
const result: ResultFile = run.result;
const judgment: Judgment = compareRuns([run], [await runBenchmark(options)]);
const code = await runBenchmark({ ...options, requestCount: -1 }).catch((error: unknown) => error instanceof BenchmarkError && error.code);
const { effectiveSampleSize } = blockBootstrap(Float64Array.from([1, 2, 3]), { quantiles: [0.5] });
process.stdout.write(JSON.stringify({ bounds, ok: result.requests.ok, verdict: judgment.verdict, code, median: percentile([1, 2, 3], 0.5), effectiveSampleSize: typeof effectiveSampleSize }));
`;

test(
  'a strict TypeScript program uses it as a library',
  async () => {
    writeFileSync(join(folder, 'program.mts'), PROGRAM);
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
    const flags = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--target', 'es2024'];
    const compiled = spawnSync(
      process.execPath,
      [compiler, ...flags, '--module', 'nodenext', '--skipLibCheck', 'false', ...types, 'program.mts'],
      { cwd: folder, encoding: 'utf8' },
    );
    expect(compiled.stdout).toBe('');
    const { url, stop } = await simulator();
    try {
      const ran = spawnSync(process.execPath, ['program.mjs', url], { cwd: folder, encoding: 'utf8' });
      expect(ran.stderr).toBe('');
      // 2 of 8 values are in (0, 0.1] and 6 in (0.1, 0.2]: the median is in the second bucket.
      expect(JSON.parse(ran.stdout)).toEqual({
        bounds: expect.objectContaining({ low: 0.1, high: 0.2 }),
        ok: 4,
        verdict: 'undecided',
        code: 'refused',
        median: 2,
        effectiveSampleSize: 'number',
      });
    } finally {
      await stop();
    }
  },
  2 * MINUTES,
);

test.each(['llmbench', 'llmbench-observability'])('it installs the command %s', (command) => {
  const { status, stdout } = spawnSync('npx', ['--no-install', command, '--version'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect({ status, version: stdout.trim() }).toEqual({ status: 0, version: expect.stringContaining(VERSION) });
});

test('it brings no sources, tests or fixtures, but the data that Prometheus and Grafana need', () => {
  const files = readdirSync(join(folder, 'node_modules/llmbench-observability'), { recursive: true }).map(String);
  expect([...new Set(files.map((file) => file.split('/')[0]))].sort()).toEqual([
    'LICENSE',
    'README.md',
    'bin',
    'dist',
    'package.json',
  ]);
  expect(files.filter((file) => /(?<!\.d)\.tsx?$|\.i?test\.|fixtures|golden/.test(file))).toEqual([]);
  // Only the declarations that the library's entries reach.
  expect(files.filter((file) => file.endsWith('.d.ts')).length).toBeLessThan(100);
  for (const needed of [
    'dist/prometheus/prometheus.yml',
    'dist/dashboards/llmbench-benchmark.json',
    'dist/catalog/vllm.yaml',
  ]) {
    expect(files).toContain(needed);
  }
});

const json = <T>(text: Uint8Array | string): T => JSON.parse(Buffer.from(text as string).toString()) as T;

test('the chart comes with its dashboards and rules, the same each time', () => {
  const name = `llmbench-${VERSION}.tgz`;
  const files = execFileSync('tar', ['-tzf', join(release, name)], { encoding: 'utf8' }).split('\n');
  expect(files).toEqual(
    expect.arrayContaining([
      'llmbench/Chart.yaml',
      'llmbench/values.schema.json',
      'llmbench/files/classic/dashboards/llmbench-vllm.json',
      'llmbench/files/alerts/alerts-scenarios.yml',
    ]),
  );
  const chart = execFileSync('tar', ['-xzOf', join(release, name), 'llmbench/Chart.yaml'], { encoding: 'utf8' });
  expect(chart).toContain(`\nversion: ${VERSION}\nappVersion: ${VERSION}\n`);
  const again = join(folder, 'again');
  execFileSync(process.execPath, [
    join(root, 'scripts/release/release.ts'),
    '--dry-run',
    '--only',
    'chart',
    '--out',
    again,
  ]);
  expect(readFileSync(join(again, name)).equals(readFileSync(join(release, name)))).toBe(true);
});

test('the checksums are those of all files', () => {
  const check = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release, encoding: 'utf8' });
  expect({ status: check.status, complaint: check.stderr }).toEqual({ status: 0, complaint: '' });
  const checked = check.stdout
    .trim()
    .split('\n')
    .map((line) => line.replace(/: OK$/, ''));
  expect(checked).toEqual(
    readdirSync(release)
      .filter((file) => !['SHA256SUMS', 'NOTES.md'].includes(file))
      .sort(),
  );
});

test('the bill of materials lists what npm installed with the package', () => {
  interface Lock {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly optional?: true }>>;
  }
  const bom = json<{ bomFormat: string; metadata: { component: { name: string } }; components: { purl: string }[] }>(
    readFileSync(join(release, `llmbench-observability-${VERSION}.cdx.json`)),
  );
  expect([bom.bomFormat, bom.metadata.component.name]).toEqual(['CycloneDX', 'llmbench-observability']);
  const listed = new Set(
    bom.components.map(({ purl }) => decodeURIComponent(/^pkg:npm\/(.+)@/.exec(purl)?.[1] ?? purl)),
  );
  const { packages } = json<Lock>(readFileSync(join(folder, 'node_modules/.package-lock.json')));
  const installed = Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13));
  expect(installed.length).toBeGreaterThan(20);
  expect([...listed].sort()).toEqual(
    [...new Set(installed)].filter((name) => name !== 'llmbench-observability').sort(),
  );
});

describe('the dashboards', () => {
  const INPUT = '${DS_PROMETHEUS}';
  type Shared = ClassicDashboard & {
    readonly __inputs: readonly { readonly name: string; readonly pluginId: string }[];
    readonly __requires: readonly { readonly type: string; readonly id: string }[];
  };
  const texts = (): readonly (readonly [string, string])[] =>
    Object.entries(unzipSync(readFileSync(join(release, `llmbench-dashboards-${VERSION}.zip`))))
      .filter(([path]) => path.endsWith('.json'))
      .map(([path, bytes]) => [path, Buffer.from(bytes).toString()]);

  test('are those of the package, and name what Grafana asks for at the import', () => {
    const own = readdirSync(join(folder, 'node_modules/llmbench-observability/dist/dashboards'));
    // The set for native histograms has the same dashboards.
    const files = [...own, ...own.map((file) => `native/${file}`)];
    expect(texts().map(([path]) => path)).toEqual(files.map((file) => `llmbench-dashboards-${VERSION}/${file}`).sort());
    for (const [path, text] of texts()) {
      const { __inputs: inputs, __requires: required, panels } = json<Shared>(text);
      expect([path, inputs]).toEqual([
        path,
        [expect.objectContaining({ name: 'DS_PROMETHEUS', pluginId: 'prometheus' })],
      ]);
      const types = panels.flatMap(({ type, panels: inner = [] }) => [type, ...inner.map((panel) => panel.type)]);
      const ids = required.filter(({ type }) => type === 'panel').map(({ id }) => id);
      expect([path, new Set(ids)]).toEqual([path, new Set(types.filter((type) => type !== 'row'))]);
    }
  });

  test('come with the rules that those for native histograms require', () => {
    const bundle = unzipSync(readFileSync(join(release, `llmbench-dashboards-${VERSION}.zip`)));
    const text = Buffer.from(bundle[`llmbench-dashboards-${VERSION}/native/rules/vllm.yml`] ?? []).toString();
    expect(text).toContain('or ignoring (le) rate(vllm:time_to_first_token_seconds[4m])');
  });

  test('pass the linter once imported, with the selected data source', () => {
    for (const [path, text] of texts()) {
      // Grafana replaces the input in every text of the dashboard.
      const imported = json<Shared>(text.replaceAll(INPUT, 'P1809F7CD0C75ACF3'));
      const { list } = imported.templating;
      expect(list.find(({ name }) => name === 'datasource')?.current?.value).toBe('P1809F7CD0C75ACF3');
      const findings = lint(imported).filter(
        (finding) => !LINT_EXCEPTIONS.some((exception) => isExcepted(finding, imported.uid, exception)),
      );
      expect([path, findings]).toEqual([path, []]);
    }
  });
});
