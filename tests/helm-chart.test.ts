import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CHART_FILES, chartFiles } from '../scripts/kubernetes/chart-files.ts';

test('the chart has the dashboards, rules and alerts of this repository: node scripts/kubernetes/generate.ts', async () => {
  const expected = await chartFiles();
  const present = (await readdir(CHART_FILES, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(CHART_FILES.length));
  expect(present.sort()).toEqual([...expected.keys()].sort());
  for (const [path, text] of expected) {
    const isSame = (await readFile(join(CHART_FILES, path), 'utf8')) === text;
    expect([path, isSame]).toEqual([path, true]);
  }
});

test('the chart has the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const chart = await readFile(new URL('../deploy/helm/llmbench/Chart.yaml', import.meta.url), 'utf8');
  expect(chart).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
});
