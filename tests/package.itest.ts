import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import { VERSION } from '../exporter/cli/version.ts';
import { start } from './llmbench.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const MINUTES = 60_000;
let folder: string;

/** The package as npm would publish it, installed where nothing else is. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'llmbench-package-'));
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  const tarball = join(folder, packed.trim().split('\n').at(-1) ?? '');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', tarball], {
    cwd: folder,
    stdio: 'pipe',
  });
}, 5 * MINUTES);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(
  'it performs a whole run with what it brings',
  async () => {
    const launcher = join(folder, 'node_modules/llmbench-observability/bin/llmbench.js');
    const simulator = start(['simulate', '--port', '0', '--json'], { cwd: folder, launcher });
    const url = await new Promise<string>((resolve, reject) => {
      simulator.child.stdout?.once('data', (line: string) => resolve((JSON.parse(line) as { url: string }).url));
      void simulator.ended.then((end) => reject(new Error(end.stderr)));
    });
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
      simulator.child.kill('SIGTERM');
      await simulator.ended;
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
  expect(files.filter((file) => /\.(ts|tsx)$|\.i?test\.|fixtures|golden/.test(file))).toEqual([]);
  for (const needed of [
    'dist/prometheus/prometheus.yml',
    'dist/dashboards/llmbench-benchmark.json',
    'dist/catalog/vllm.yaml',
  ]) {
    expect(files).toContain(needed);
  }
});
