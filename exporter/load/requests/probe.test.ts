import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { GenerationOptions } from '../endpoints/endpoint.ts';
import { chat } from '../endpoints/openai.ts';
import { probe } from './probe.ts';
import type { ProbeResult } from './probe.ts';
import { RunControls } from '../phases/run-controls.ts';
import { syntheticDataset } from '../datasets/synthetic-dataset.ts';
import {
  response,
  delta,
  GOOD_STREAM,
  httpChunk,
  LAST_CHUNK,
  scriptedServer,
  sse,
  STREAM_HEAD,
  streamOf,
} from '../testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../testing/scripted-server.ts';
import { selfSignedCertificate, VALID } from '../testing/certificate.ts';
import { UndiciTransport } from '../transports/undici-transport.ts';

const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

let server: ScriptedServer;

const GIVEN: GenerationOptions = { model: 'm', sampling: {}, includeUsage: true };

async function probing(
  script: Script,
  sampling: GenerationOptions['sampling'] = {},
  controls = new RunControls(),
  requestTimeoutSeconds = 60,
): Promise<ProbeResult> {
  server = await scriptedServer(script);
  toClose.push(server);
  return probingAt(server.origin, { ...GIVEN, sampling }, controls, requestTimeoutSeconds);
}

async function probingAt(
  origin: string,
  generation = GIVEN,
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
    options: generation,
  };
  const options = { form, origin: 'http://h:1', modelsPath: '/v1/models', requestTimeoutSeconds, secrets: ['sk-1'] };
  return probe(options, transport, controls);
}

describe('a server that can be benchmarked', () => {
  test('gets one request, as the run sends them', async () => {
    expect(await probing((socket) => socket.write(streamOf(GOOD_STREAM)))).toEqual({
      options: GIVEN,
      reportsUsage: true,
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
    expect(result).toEqual({ options: GIVEN, reportsUsage: false, contentType: 'text/event-stream' });
  });

  test('is read to its end when only that shows whether it reports usage', async () => {
    server = await scriptedServer((socket) => {
      const [first, ...rest] = GOOD_STREAM as [string, ...string[]];
      socket.write(STREAM_HEAD + httpChunk(first));
      setTimeout(() => socket.write(rest.map(httpChunk).join('') + LAST_CHUNK), 1200);
    });
    toClose.push(server);
    expect(await probingAt(server.origin, { ...GIVEN, includeUsage: false })).toMatchObject({ reportsUsage: true });
  });

  test('may send events of other kinds', async () => {
    const result = probing((socket) => socket.write(streamOf([sse({ type: 'ping' }), sse({}), ...GOOD_STREAM])));
    expect((await result).reportsUsage).toBe(true);
  });

  test('may respond without text', async () => {
    const result = probing((socket) => socket.write(streamOf([sse(delta('', 'length')), sse('[DONE]')])));
    expect(await result).toEqual({ options: GIVEN, reportsUsage: false, contentType: 'text/event-stream' });
  });

  // Texts of servers and gateways: OpenAI, vLLM, Mistral, FastAPI, TGI, Databricks, LiteLLM, and such that name nothing.
  const NO_USAGE = { includeUsage: false };
  const RENAMED = { lengthField: 'max_completion_tokens' };
  test.each<[rejected: readonly string[], status: string, body: unknown, changed: object, requests: number]>([
    [['stream_options'], '400 X', { error: { message: 'Unknown field: stream_options' } }, NO_USAGE, 2],
    [['stream_options'], '422 X', { object: 'error', message: 'Extra inputs are not permitted' }, NO_USAGE, 2],
    [['stream_options'], '422 X', { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs' }] }, NO_USAGE, 2],
    [
      ['stream_options'],
      '422 X',
      { object: 'error', message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'] }] } },
      NO_USAGE,
      2,
    ],
    [
      ['stream_options'],
      '400 X',
      { error_code: 'BAD_REQUEST', message: 'Bad request: json: unknown field' },
      NO_USAGE,
      2,
    ],
    [['stream_options'], '400 X', 'Invalid JSON', NO_USAGE, 2],
    [
      ['max_tokens'],
      '400 X',
      {
        error: {
          message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
          param: 'max_tokens',
          code: 'unsupported_parameter',
        },
      },
      RENAMED,
      2,
    ],
    [['max_tokens'], '400 X', { error: { message: 'Unsupported parameter', param: 'max_tokens' } }, RENAMED, 2],
    [['max_tokens'], '422 X', { error: 'Input validation error' }, RENAMED, 3],
    [['max_tokens', 'stream_options'], '400 X', { error: { message: 'bad request' } }, { ...NO_USAGE, ...RENAMED }, 4],
  ])('may reject %j with %s %j', async (rejected, status, body, changed, requests) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const result = await probing((socket, request) =>
      socket.write(
        rejected.some((name) => request.body.includes(`"${name}"`))
          ? response(status, 'application/json', text)
          : streamOf(GOOD_STREAM),
      ),
    );
    expect(result.options).toEqual({ ...GIVEN, ...changed });
    expect(server.requests).toHaveLength(requests);
    expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toHaveProperty(
      'lengthField' in changed ? 'max_completion_tokens' : 'max_tokens',
      'includeUsage' in changed ? 16 : 200,
    );
  });

  test('a server whose cause is named otherwise is not asked again', async () => {
    const named = '{"error":{"message":"temperature must be at most 1"}}';
    const result = probing((socket) => socket.write(response('422 X', 'application/json', named)), { temperature: 2 });
    await expect(result).rejects.toThrow(/Change or remove temperature in --extra-inputs$/);
    expect(server.requests).toHaveLength(1);
  });
});

const models = response('200 OK', 'application/json', '{"object":"list","data":[{"id":"llama"},{"id":"qwen"}]}');
const noModel = response('404 X', 'application/json', '{"error":{"message":"The model `m` does not exist."}}');

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
      (socket): unknown => socket.write(response('404 X', 'text/plain', 'not found')),
      'http_4xx',
      'http://h:1: HTTP 404: not found. No endpoint at /v1/chat/completions: check the path of --url, --endpoint-path and --endpoint-type',
    ],
    [
      '401',
      (socket): unknown => socket.write(response('401 X', 'application/json', '{"error":{"message":"bad key sk-1"}}')),
      'http_4xx',
      'http://h:1: HTTP 401: bad key ***. Check the API key: --api-key-env VARIABLE or --api-key-file FILE',
    ],
    [
      '403',
      (socket): unknown => socket.write(response('403 X', 'application/json', '{"error":{"message":"not yours"}}')),
      'http_4xx',
      'http://h:1: HTTP 403: not yours. Check the API key: --api-key-env VARIABLE or --api-key-file FILE',
    ],
    [
      '422',
      (socket): unknown =>
        socket.write(response('422 X', 'application/json', '{"error":{"message":"top_p must be at most 1"}}')),
      'http_4xx',
      'http://h:1: HTTP 422: top_p must be at most 1. The server rejects the request: check --extra-inputs (NAME:null removes a field), --isl and --osl, --endpoint-type',
    ],
    [
      'a redirect',
      (socket): unknown => socket.write(response('308 X', 'text/plain', '', 'location: https://u:p@h:1/?key=a\r\n')),
      'redirect',
      'http://h:1: HTTP 308: redirects are not followed (to https://h:1/). Set --url to that address; --endpoint-path keeps a slash at its end',
    ],
    [
      'a compressed stream',
      (socket): unknown => socket.write(response('200 OK', 'text/event-stream', 'x', 'content-encoding: gzip\r\n')),
      'compression',
      'http://h:1: HTTP 200: content-encoding gzip although identity was requested. Switch compression off in the server or proxy: it delays and merges chunks',
    ],
    [
      'not a stream',
      (socket): unknown => socket.write(response('200 OK', 'text/html', '<h1>Welcome</h1>')),
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

  const settings = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 255, 255]);
  test.each<[string, Script, RegExp]>([
    [
      'HTTP/2 only',
      (socket): unknown => socket.write(settings),
      /^http:\/\/h:1: the server speaks HTTP\/2 only, and llmbench HTTP\/1\.1\. Check the port of --url \(gRPC/,
    ],
    [
      '20 kB of headers',
      (socket): unknown => socket.write(response('200 OK', 'a/b', '', `x: ${'a'.repeat(20_000)}\r\n`)),
      /^http:\/\/h:1: the response has more than 16384 bytes of header lines\. Remove headers .*--max-http-header-size/,
    ],
  ])('%s', async (_name, script, message) => {
    await expect(probing(script)).rejects.toMatchObject({
      reason: 'protocol',
      message: expect.stringMatching(message),
    });
  });

  test('HTTP/2 only, by TLS', async () => {
    const secure = createSecureServer(selfSignedCertificate(VALID));
    secure.on('sessionError', () => undefined);
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    toClose.push({ close: async () => void secure.close() });
    const { port } = secure.address() as AddressInfo;
    await expect(probingAt(`https://localhost:${port}`)).rejects.toThrow('http://h:1: the server speaks HTTP/2 only');
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
    await expect(probing(() => undefined, {}, undefined, 0.1)).rejects.toMatchObject({ reason: 'request_timeout' });
  });

  test('Ctrl-C during the probe', async () => {
    const controls = new RunControls();
    await expect(probing(() => controls.drain(), {}, controls)).rejects.toMatchObject({ reason: 'cancelled' });
  });
});
