import { expect, test } from '@jest/globals';
import { discoverLocal, localAddresses } from './discover-local.ts';
import { metricsServer, page } from '../testing/metrics-server.ts';

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
