import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithPrometheus } from './testing/describe-prometheus.ts';
import { startPrometheus } from './server.ts';

await describeWithPrometheus('startPrometheus', (programs) => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'llmbench-server-'));
  });

  afterEach(() => rm(folder, { recursive: true }));

  const options = async (name: string, config = 'scrape_configs: []\n') => {
    const configFile = join(folder, `${name}.yml`);
    await writeFile(configFile, config);
    return { programs, configFile, dataFolder: join(folder, name) };
  };

  test('answers queries when it resolves, rejects a port in use, and ends on close', async () => {
    const server = await startPrometheus(await options('a'));
    try {
      const response = await fetch(`${server.url}/api/v1/query?query=1`);
      expect(response.status).toBe(200);
      const port = Number(new URL(server.url).port);
      await expect(startPrometheus({ ...(await options('b')), port })).rejects.toThrow(/address already in use/);
    } finally {
      await server.stop();
    }
    await server.stop();
    expect(server.process.exitCode).toBe(0);
    await expect(fetch(server.url)).rejects.toThrow();
  });

  test('reports what is wrong with a configuration', async () => {
    await expect(startPrometheus(await options('c', 'scrape_configs: 7\n'))).rejects.toThrow(
      /scrape_configs|unmarshal/,
    );
  });
});
