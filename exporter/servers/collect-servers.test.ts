import { afterEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { collectServers } from './collect-servers.ts';
import { parseTarget } from './scrape/targets.ts';
import { metricsServer, page, type MetricsServer } from './testing/metrics-server.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

async function server(answer: Parameters<typeof metricsServer>[0]): Promise<MetricsServer> {
  const made = await metricsServer(answer);
  cleanUp.push(() => made.close());
  return made;
}

async function directory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'collect-'));
  cleanUp.push(() => rm(made, { recursive: true }));
  return made;
}

const clock = () => {
  const zero = performance.now();
  return { epoch: { wall: new Date() }, now_ns: () => (performance.now() - zero) * 1e6 };
};

describe('collecting until stopped', () => {
  test('writes statistics, samples and exports; a target without metrics does not affect the others', async () => {
    const ended = new AbortController();
    const good = await server((_, response, i) => {
      if (i === 3) ended.abort();
      page(response, `# TYPE vllm:request_success_total counter\nvllm:request_success_total ${10 + i}\n`);
    });
    const html = await server((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
    const out = await directory();
    const lines: string[] = [];
    const { file, written } = await collectServers({
      searches: [],
      targets: [good.origin, html.origin].map(parseTarget),
      intervalSeconds: 0.01,
      ...clock(),
      durationSeconds: null,
      until: ended.signal,
      sliceSeconds: null,
      definitions: 'llmbench',
      formats: ['json', 'csv', 'jsonl', 'parquet'],
      directory: join(out, 'new'),
      tool: 'llmbench 0',
      report: (line) => lines.push(line),
    });
    expect((await readdir(join(out, 'new'))).sort()).toEqual([
      'server_metrics_export.csv',
      'server_metrics_export.json',
      'server_metrics_export.jsonl',
      'server_metrics_export.parquet',
      'servers.json',
      'servers.parquet',
    ]);
    expect(written).toHaveLength(6);
    expect(JSON.parse(await readFile(join(out, 'new', 'servers.json'), 'utf8'))).toEqual(file);
    expect(file.targets).toMatchObject([
      { system: 'vllm', state: 'up' },
      { state: 'not_metrics', scrapes: 0 },
    ]);
    // The first page is the reference, so that all that came after it counts.
    expect(file.series).toMatchObject([
      { family: 'vllm:request_success_total', unit: 'requests', statistics: { increase: good.asked.length - 1 } },
    ]);
    expect(lines).toEqual([expect.stringMatching(/HTML/)]);
  });

  test('the duration starts with the first pages, however long a silent target is waited for', async () => {
    const target = await server((_, response) => page(response, 'x 1\n'));
    const silent = await server(() => undefined);
    const { file } = await collectServers({
      searches: [],
      targets: [target.origin, silent.origin].map(parseTarget),
      intervalSeconds: 60,
      ...clock(),
      durationSeconds: 0.5,
      until: new AbortController().signal,
      sliceSeconds: null,
      definitions: 'llmbench',
      formats: [],
      directory: await directory(),
      tool: 'llmbench 0',
      report: () => undefined,
    });
    expect(file.window.seconds).toBeGreaterThanOrEqual(0.499);
    expect(file.targets).toMatchObject([{ state: 'up' }, { state: 'waiting', scrapes: 0, failed_scrapes: 1 }]);
    expect(file.targets[1]?.notes).toEqual([expect.stringMatching(/^no page was read: no answer for /)]);
  });

  test('write errors are reported before anything is collected', async () => {
    const out = await directory();
    const target = await server((_, response) => page(response, 'x 1\n'));
    const collecting = collectServers({
      searches: [],
      targets: [parseTarget(target.origin)],
      intervalSeconds: 1,
      ...clock(),
      durationSeconds: null,
      until: AbortSignal.abort(),
      sliceSeconds: null,
      definitions: 'llmbench',
      formats: [],
      directory: join(out, 'x\0'),
      tool: 'llmbench 0',
      report: () => undefined,
    });
    await expect(collecting).rejects.toThrow();
    expect(target.asked).toEqual([]);
  });
});
