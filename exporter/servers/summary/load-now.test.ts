import { afterEach, expect, test } from '@jest/globals';
import { Collector } from '../scrape/collector.ts';
import { loadNow } from './load-now.ts';
import type { ServerLoadNow } from './load-now.ts';
import { parseTarget } from '../scrape/targets.ts';
import { metricsServer, page } from '../testing/metrics-server.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

/** The load shown by pages, one per server, each read once. */
async function loadOf(...pages: readonly string[]): Promise<ServerLoadNow> {
  const servers = await Promise.all(pages.map((text) => metricsServer((_, response) => page(response, text))));
  servers.forEach((server) => cleanUp.push(() => server.close()));
  const targets = servers.map(({ origin }) => parseTarget(origin));
  const collector = new Collector({ targets, interval_ns: 60e9, now_ns: () => 1, report: () => undefined });
  cleanUp.push(() => collector.stop());
  await collector.scrapeEdge();
  return loadNow(collector.loops.map(({ store }) => store));
}

const vllm = (running: number, waiting: number, cache: number, engine = 0): string =>
  `vllm:num_requests_running{engine="${engine}"} ${running}\nvllm:num_requests_waiting{engine="${engine}"} ${waiting}\nvllm:kv_cache_usage_perc{engine="${engine}"} ${cache}\n`;

test('requests are added over engines and targets, the KV cache is that of the fullest', async () => {
  const load = await loadOf(vllm(3, 0, 0.25) + vllm(4, 2, 0.75, 1), vllm(5, 1, 0.5));
  expect(load).toEqual({ running: 12, waiting: 3, kvCacheUsage: 0.75 });
});

test('what no server exposes is null, not 0', async () => {
  expect(await loadOf('python_info 1\n')).toEqual({ running: null, waiting: null, kvCacheUsage: null });
  expect(await loadOf('dynamo_frontend_active_requests 7\n')).toMatchObject({ running: 7, waiting: null });
});
