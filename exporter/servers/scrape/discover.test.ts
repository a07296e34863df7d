import { expect, test } from '@jest/globals';
import { metricsServer, page } from '../testing/metrics-server.ts';
import { OWN_PLACES, ownPages, pagesBelow, pagesBeside, discoverLocal, localAddresses } from './discover.ts';

test("a server's own page: default ports over http, and the path beside the API over the API's scheme", () => {
  const pages = ownPages('https://llm:8000');
  expect(pages.map(({ url }) => url)).toEqual([
    'http://llm:8002/metrics',
    'http://llm:29000/metrics',
    'https://llm:8000/prometheus/metrics',
    'https://llm:8000/v1/metrics',
    'https://llm:8000/engine_metrics',
  ]);
  expect(pages.map(({ url }, i) => url.includes(OWN_PLACES[i] ?? '?'))).toEqual(Array(5).fill(true));
});

test('pages beside a server: by its system, and the exporters of GPUs', () => {
  const urls = (system: string | null): string[] => pagesBeside('http://[::1]:8000', system).map(({ url }) => url);
  const gpus = ['http://[::1]:9400/metrics', 'http://[::1]:9401/metrics', 'http://[::1]:5000/metrics'];
  const nixl = ['http://[::1]:9090/metrics', 'http://[::1]:19090/metrics'];
  expect(urls('dynamo')).toEqual(['http://[::1]:6880/metrics', ...nixl, ...gpus]);
  expect(urls('vllm')).toEqual(['http://[::1]:6880/metrics', ...nixl, ...gpus]);
  expect(urls('sglang')).toEqual([...nixl, ...gpus]);
  expect(urls('triton')).toEqual(gpus);
  expect(urls(null)).toEqual(gpus);
});

test('below the prefix of an ingress, the longest first', () => {
  const urls = (prefix: string): string[] => pagesBelow('https://llm', prefix).map(({ url }) => url);
  expect(urls('/team-a')).toEqual(['https://llm/team-a/metrics']);
  expect(urls('/team-a/chat')).toEqual(['https://llm/team-a/chat/metrics', 'https://llm/team-a/metrics']);
  expect(urls('')).toEqual([]);
});

test('only pages of known systems are found', async () => {
  const vllm = await metricsServer((_, response) => page(response, 'vllm:num_requests_running 1\n'));
  const other = await metricsServer((_, response) => page(response, 'go_goroutines 1\n'));
  const html = await metricsServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
  );
  const gone = await metricsServer(() => undefined);
  await gone.close();
  const addresses = [vllm, other, html, gone].map(({ origin }) => `${origin}/metrics`);
  try {
    expect((await discoverLocal(addresses)).map(({ url }) => url)).toEqual([`${vllm.origin}/metrics`]);
  } finally {
    await Promise.all([vllm, other, html].map((server) => server.close()));
  }
});

test('the known ports of this machine, each once', () => {
  const addresses = localAddresses();
  expect(addresses).toEqual(
    expect.arrayContaining([
      'http://127.0.0.1:8000/metrics',
      'http://127.0.0.1:8000/prometheus/metrics',
      'http://127.0.0.1:8002/metrics',
      'http://127.0.0.1:8081/metrics',
      'http://127.0.0.1:29000/metrics',
      'http://127.0.0.1:30000/metrics',
      'http://127.0.0.1:9400/metrics',
    ]),
  );
  expect(new Set(addresses).size).toBe(addresses.length);
});
