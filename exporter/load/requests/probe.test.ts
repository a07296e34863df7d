import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { chat } from '../endpoints/chat.ts';
import { probe } from './probe.ts';
import type { ProbeResult } from './probe.ts';
import { RunControls } from '../phases/run-controls.ts';
import { syntheticDataset } from '../datasets/synthetic-dataset.ts';
import {
  answer,
  delta,
  GOOD_STREAM,
  httpChunk,
  scriptedServer,
  sse,
  STREAM_HEAD,
  streamOf,
} from '../testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../testing/scripted-server.ts';
import { UndiciTransport } from '../transports/undici/undici-transport.ts';

const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

let server: ScriptedServer;

async function probing(script: Script, controls = new RunControls(), requestTimeoutSeconds = 60): Promise<ProbeResult> {
  server = await scriptedServer(script);
  toClose.push(server);
  return probingAt(server.origin, controls, requestTimeoutSeconds);
}

async function probingAt(
  origin: string,
  controls = new RunControls(),
  requestTimeoutSeconds = 60,
): Promise<ProbeResult> {
  const transport = new UndiciTransport({ origin });
  toClose.push(transport);
  const form = {
    endpoint: chat,
    path: chat.path,
    headers: { authorization: 'Bearer sk-1', 'content-type': 'application/json' },
    dataset: syntheticDataset({ inputTokens: 5, outputTokens: 200, seed: 1 }),
    options: { model: 'm', sampling: {}, includeUsage: true },
  };
  const options = { form, origin: 'http://h:1', modelsPath: '/v1/models', requestTimeoutSeconds, secrets: ['sk-1'] };
  return probe(options, transport, controls);
}

describe('a server that can be benchmarked', () => {
  test('gets one request, as the run sends them', async () => {
    expect(await probing((socket) => socket.write(streamOf(GOOD_STREAM)))).toEqual({
      includeUsage: true,
      contentType: 'text/event-stream',
    });
    expect(server.requests).toHaveLength(1);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ max_tokens: 200, stream: true });
  });

  test('is not read to its end when that takes long', async () => {
    const result = await probing((socket) => {
      socket.write(STREAM_HEAD + httpChunk(sse(delta('a'))));
      const writing = setInterval(() => socket.write(httpChunk(sse(delta('a')))), 20);
      socket.on('close', () => clearInterval(writing));
    });
    expect(result).toEqual({ includeUsage: true, contentType: 'text/event-stream' });
  });

  test('may send events of other kinds', async () => {
    const result = probing((socket) => socket.write(streamOf([sse({ type: 'ping' }), sse({}), ...GOOD_STREAM])));
    expect((await result).includeUsage).toBe(true);
  });

  test('may respond without text', async () => {
    const result = probing((socket) => socket.write(streamOf([sse(delta('', 'length')), sse('[DONE]')])));
    expect(await result).toEqual({ includeUsage: true, contentType: 'text/event-stream' });
  });

  test('may reject stream_options: the probe is repeated without it', async () => {
    const result = await probing((socket, { body }) =>
      socket.write(
        body.includes('stream_options')
          ? answer('400 X', 'application/json', '{"error":{"message":"Unknown field: stream_options"}}')
          : streamOf(GOOD_STREAM),
      ),
    );
    expect(result).toEqual({ includeUsage: false, contentType: 'text/event-stream' });
    expect(server.requests.map(({ body }) => (JSON.parse(body) as { max_tokens: number }).max_tokens)).toEqual([
      200, 16,
    ]);
  });
});

const models = answer('200 OK', 'application/json', '{"object":"list","data":[{"id":"llama"},{"id":"qwen"}]}');
const noModel = answer('404 X', 'application/json', '{"error":{"message":"The model `m` does not exist."}}');

test('a server without TLS that receives a TLS handshake', async () => {
  const plain = createServer();
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  toClose.push({ close: async () => void plain.close() });
  const probing = probingAt(`https://127.0.0.1:${(plain.address() as AddressInfo).port}`);
  await expect(probing).rejects.toThrow('http://h:1: the server does not use TLS. Use http:// in --url');
});

describe('a server that cannot', () => {
  test.each<[string, Script, string, string]>([
    [
      '404 model: the models are listed',
      (socket, { head }): unknown => socket.write(head.startsWith('GET /v1/models ') ? models : noModel),
      'http_4xx',
      'http://h:1: HTTP 404: The model `m` does not exist. No model m; the server has: llama, qwen. Set --model',
    ],
    [
      '404 path',
      (socket): unknown => socket.write(answer('404 X', 'text/plain', 'not found')),
      'http_4xx',
      'http://h:1: HTTP 404: not found. No endpoint at /v1/chat/completions: check the path of --url, or --endpoint-type',
    ],
    [
      '401',
      (socket): unknown => socket.write(answer('401 X', 'application/json', '{"error":{"message":"bad key sk-1"}}')),
      'http_4xx',
      'http://h:1: HTTP 401: bad key ***. Check the API key: --api-key-env VARIABLE or --api-key-file FILE',
    ],
    [
      '403',
      (socket): unknown => socket.write(answer('403 X', 'application/json', '{"error":{"message":"not yours"}}')),
      'http_4xx',
      'http://h:1: HTTP 403: not yours. Check the API key: --api-key-env VARIABLE or --api-key-file FILE',
    ],
    [
      '422',
      (socket): unknown =>
        socket.write(answer('422 X', 'application/json', '{"error":{"message":"top_p must be at most 1"}}')),
      'http_4xx',
      'http://h:1: HTTP 422: top_p must be at most 1. The server rejects the request: check --extra-inputs, --isl and --osl, --endpoint-type',
    ],
    [
      'a redirect',
      (socket): unknown => socket.write(answer('308 X', 'text/plain', '', 'location: https://h:1/\r\n')),
      'redirect',
      'http://h:1: HTTP 308: redirects are not followed. Set --url to the address to which the server redirects',
    ],
    [
      'a compressed stream',
      (socket): unknown => socket.write(answer('200 OK', 'text/event-stream', 'x', 'content-encoding: gzip\r\n')),
      'compression',
      'http://h:1: HTTP 200: content-encoding gzip although identity was requested. Switch compression off in the server or proxy: it delays and merges chunks',
    ],
    [
      'not a stream',
      (socket): unknown => socket.write(answer('200 OK', 'text/html', '<h1>Welcome</h1>')),
      'not_a_stream',
      'http://h:1: the response is not a stream (HTTP 200: Welcome). The endpoint must respond to "stream": true with text/event-stream',
    ],
    [
      'an event of another protocol after many tokens',
      (socket): unknown =>
        socket.write(
          streamOf([
            ...Array.from({ length: 50 }, () => sse(delta('a'))),
            sse({ type: 'note', say: 'hi' }),
            ...GOOD_STREAM,
          ]),
        ),
      'malformed_event',
      'http://h:1: malformed_event: an event is not of the chat protocol: {type, say}. The server must respond to one request before a run begins',
    ],
    [
      'an error inside the stream',
      (socket): unknown => socket.write(streamOf([sse({ error: { message: 'no worker' } })])),
      'error_event',
      'http://h:1: error_event: no worker. The server must respond to one request before a run begins',
    ],
  ])('%s', async (_name, script, reason, message) => {
    await expect(probing(script)).rejects.toMatchObject({ reason, message });
  });

  test('another protocol', async () => {
    await expect(probing((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))).rejects.toMatchObject({
      reason: 'protocol',
      message: expect.stringMatching(/^http:\/\/h:1: the response is not HTTP\/1\.1 \(.+\)\. Check the port of --url$/),
    });
  });

  test('refused', async () => {
    const closed = await scriptedServer(() => undefined);
    await closed.close();
    const transport = new UndiciTransport({ origin: closed.origin });
    toClose.push(transport);
    const form = {
      endpoint: chat,
      path: chat.path,
      headers: {},
      dataset: syntheticDataset({ inputTokens: 5, outputTokens: 8, seed: 1 }),
      options: { model: 'm', sampling: {}, includeUsage: true },
    };
    const options = { form, origin: closed.origin, modelsPath: '/v1/models', requestTimeoutSeconds: 60, secrets: [] };
    await expect(probe(options, transport, new RunControls())).rejects.toMatchObject({
      reason: 'connect_refused',
      message: `${closed.origin}: connection refused. Check that the server runs, and host and port of --url`,
    });
  });

  test('silent', async () => {
    await expect(probing(() => undefined, undefined, 0.1)).rejects.toMatchObject({ reason: 'request_timeout' });
  });

  test('Ctrl-C during the probe', async () => {
    const controls = new RunControls();
    await expect(probing(() => controls.drain(), controls)).rejects.toMatchObject({ reason: 'cancelled' });
  });
});
