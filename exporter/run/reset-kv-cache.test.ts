import { ExpectedError } from '../errors/expected-error.ts';
import { afterEach, describe, expect, test } from '@jest/globals';
import { response, scriptedServer } from '../load/testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../load/testing/scripted-server.ts';
import { UndiciTransport } from '../load/transports/undici-transport.ts';
import { resetCaches, resetPath, type ServerWay } from './reset-kv-cache.ts';

const OPEN = { headers: {}, secrets: [] };
const RESET = { path: null, timeoutSeconds: 5 };
const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

async function server(script: Script): Promise<ServerWay & { readonly requests: ScriptedServer['requests'] }> {
  const opened = await scriptedServer(script);
  const transport = new UndiciTransport({ origin: opened.origin });
  toClose.push(opened, transport);
  return { target: { origin: opened.origin }, transport, requests: opened.requests };
}

const responses =
  (status: string): Script =>
  (socket) =>
    socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);

describe('the endpoint that resets the cache', () => {
  test.each([
    ['vllm', '/reset_prefix_cache'],
    ['sglang', '/flush_cache'],
  ])('%s', (system, path) => expect(resetPath(RESET, system)).toBe(path));

  test('a configured path applies to every system', () => {
    expect(resetPath({ ...RESET, path: '/mine' }, 'dynamo')).toBe('/mine');
    expect(resetPath({ ...RESET, path: '/mine' }, null)).toBe('/mine');
  });

  test.each(['dynamo', 'triton', 'trtllm'])('%s has no such endpoint', (system) => {
    expect(() => resetPath(RESET, system)).toThrow(ExpectedError);
    expect(() => resetPath(RESET, system)).toThrow(
      `--reset-kv-cache: ${system} has no known endpoint that resets its cache`,
    );
  });

  test('a server that is not recognized', () => {
    expect(() => resetPath(RESET, null)).toThrow('the server is not recognized by a metrics page');
  });
});

describe('resetting', () => {
  test('every server gets one request, with the headers of the requests', async () => {
    const servers = [await server(responses('200 OK')), await server(responses('200 OK'))];
    await resetCaches(RESET, 'vllm', servers, { headers: { authorization: 'Bearer k' }, secrets: [] });
    for (const { requests } of servers) {
      expect(requests.map(({ head }) => head.split('\r\n')[0])).toEqual(['POST /reset_prefix_cache HTTP/1.1']);
      expect(requests[0]?.head).toContain('authorization: Bearer k');
    }
  });

  test('a server that fails to reset refuses the run', async () => {
    const servers = [await server(responses('200 OK')), await server(responses('404 Not Found'))];
    const attempt = resetCaches(RESET, 'vllm', servers, OPEN);
    await expect(attempt).rejects.toThrow(ExpectedError);
    await expect(attempt).rejects.toThrow(
      `--reset-kv-cache: ${servers[1]?.target.origin}/reset_prefix_cache: HTTP 404; vLLM requires VLLM_SERVER_DEV_MODE=1`,
    );
  });

  test('what a server repeats of a credential is not shown', async () => {
    const body = 'no access for abcdef123';
    const way = await server((socket) => socket.write(response('403 Forbidden', 'text/plain', body)));
    const attempt = resetCaches(RESET, 'sglang', [way], { headers: { 'x-mine': 'abcdef123' }, secrets: ['abcdef123'] });
    await expect(attempt).rejects.toThrow('HTTP 403 (no access for ***)');
  });

  test('an unreachable server refuses the run', async () => {
    const way = await server((socket) => socket.resetAndDestroy());
    await expect(resetCaches(RESET, 'sglang', [way], OPEN)).rejects.toThrow(ExpectedError);
  });

  test('a busy server is called again', async () => {
    const way = await server((socket, { position }) =>
      responses(position < 2 ? '503 Busy' : '200 OK')(socket, { head: '', body: '', connection: 0, position }),
    );
    await resetCaches(RESET, 'sglang', [way], OPEN, 0.01);
    expect(way.requests).toHaveLength(3);
  });
});
