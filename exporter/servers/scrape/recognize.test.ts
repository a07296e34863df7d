import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { OPEN_ACCESS } from './targets.ts';
import { recognizeServer, systemOf, systemsOf } from './recognize.ts';

let stop: (() => Promise<void>) | null = null;
afterEach(async () => {
  await stop?.();
  stop = null;
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stop = () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a page with vLLM families is vLLM', async () => {
  const origin = await serve((_, response) => {
    response.setHeader('content-type', 'text/plain; version=1.0.0; charset=utf-8');
    response.end('# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine="0"} 0\n');
  });
  expect(await recognizeServer(`${origin}/v1/chat/completions`, OPEN_ACCESS)).toEqual({
    metricsUrl: `${origin}/metrics`,
    system: 'vllm',
  });
});

test("Dynamo's frontend passes through vLLM's families and is still Dynamo", () => {
  expect(systemOf('# TYPE vllm:e2e_request_latency_seconds histogram\ndynamo_frontend_requests_total 1\n')).toBe(
    'dynamo',
  );
});

test('all systems of a page: a Dynamo worker passes through its engine and its cache', () => {
  const page = [
    '# TYPE lmcache:time_to_store histogram',
    'lmcache:time_to_store_count 1',
    'vllm:num_requests_running{engine="0"} 1',
    'dynamo_component_requests_total 1',
    '',
  ].join('\n');
  expect(systemsOf(page)).toEqual(['dynamo', 'vllm', 'lmcache']);
  expect(systemOf(page)).toBe('dynamo');
  expect(systemsOf('up_and_running 1\n')).toEqual([]);
});

test('the page of an unknown exporter has no known system', async () => {
  const origin = await serve((_, response) => response.end('up_and_running 1\n'));
  expect(await recognizeServer(origin, OPEN_ACCESS)).toEqual({ metricsUrl: `${origin}/metrics`, system: null });
});

test.each([
  ['404', (_: unknown, response: ServerResponse) => response.writeHead(404).end('no')],
  [
    'HTML',
    (_: unknown, response: ServerResponse) => response.setHeader('content-type', 'text/html').end('<p>hello 1</p>'),
  ],
  ['JSON', (_: unknown, response: ServerResponse) => response.end('{"object":"list"}')],
])('%s is not a metrics page', async (_name, listener) => {
  expect(await recognizeServer(await serve(listener as RequestListener), OPEN_ACCESS)).toBeNull();
});

test('an unreachable server has no metrics page', async () => {
  const origin = await serve(() => undefined);
  await stop?.();
  stop = null;
  expect(await recognizeServer(origin, OPEN_ACCESS)).toBeNull();
});
