import { afterEach, expect, test } from '@jest/globals';
import { metricsServer, page, type MetricsServer } from '../servers/testing/metrics-server.ts';
import { parseTarget, type Target, OPEN_ACCESS } from '../servers/scrape/targets.ts';
import { collectedTargets } from './metrics-pages.ts';
import type { MetricsPages } from './metrics-pages.ts';

const servers: MetricsServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const pages = (origins: readonly string[], named: readonly Target[] = []): MetricsPages => ({
  origins,
  access: OPEN_ACCESS,
  named,
});

async function vllm(): Promise<MetricsServer> {
  const server = await metricsServer((_, response) => page(response, 'vllm:num_requests_running 1\n'));
  servers.push(server);
  return server;
}

test("the server's own page first, then the named ones, each once", async () => {
  const named = ['h:8002', 'dcgm=h', 'h:8000'].map(parseTarget);
  const { mains, targets } = await collectedTargets(false, pages(['http://h:8000'], named), () => {
    throw new Error('nothing is to be found');
  });
  expect(mains.map(({ name }) => name)).toEqual(['http://h:8000/metrics']);
  expect(targets.map(({ name }) => name)).toEqual([
    'http://h:8000/metrics',
    'http://h:8002/metrics',
    'http://h:9400/metrics',
  ]);
});

test("TensorRT-LLM's Prometheus page, named, stands for the JSON that drains", async () => {
  const named = [parseTarget('trtllm=h:8000')];
  const collected = await collectedTargets(false, pages(['http://h:8000'], named), () => undefined);
  expect(collected).toEqual({ mains: named, targets: named, found: [] });
});

test('several servers: the page of each, once', async () => {
  const origins = ['http://a:8000', 'http://b:8000', 'http://a:8000'];
  const { mains, targets } = await collectedTargets(false, pages(origins), () => undefined);
  expect(mains.map(({ name }) => name)).toEqual(['http://a:8000/metrics', 'http://b:8000/metrics']);
  expect(targets).toEqual(mains);
});

test('behind a unix socket only configured pages are listed', async () => {
  const collected = await collectedTargets(false, pages([]), () => undefined);
  expect(collected).toEqual({ mains: [], targets: [], found: [] });
  const named = [parseTarget('vllm=h:8000')];
  expect(await collectedTargets(false, pages([], named), () => undefined)).toEqual({
    mains: [],
    targets: named,
    found: [],
  });
});

test('discovered pages are scraped too, and ports that are scraped anyway are not probed', async () => {
  const [measured, named, other] = [await vllm(), await vllm(), await vllm()];
  const local = [measured, named, other].map(({ port }) => `http://127.0.0.1:${port}/metrics`);
  const lines: string[] = [];
  const { targets } = await collectedTargets(
    true,
    pages([`http://localhost:${measured.port}`], [parseTarget(`[::1]:${named.port}`)]),
    (line) => lines.push(line),
    local,
  );
  expect(targets.map(({ name }) => name)).toEqual([
    `http://localhost:${measured.port}/metrics`,
    `http://[::1]:${named.port}/metrics`,
    `http://127.0.0.1:${other.port}/metrics`,
  ]);
  expect([measured, named, other].map(({ asked }) => asked.length)).toEqual([0, 0, 1]);
  expect(lines).toEqual([`found http://127.0.0.1:${other.port}/metrics`]);
  // Credentials are only for pages that the user named.
  expect(targets.at(-1)?.access).toBeUndefined();
});
