import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

test('the chart has the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const chart = await readFile(new URL('../deploy/helm/llmbench/Chart.yaml', import.meta.url), 'utf8');
  expect(chart).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
});
