import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { oneRequest } from '../../testing/one-request.ts';
import { response, GOOD_STREAM, scriptedServer, streamOf } from '../../testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../../testing/scripted-server.ts';
import type { ConnectionFacts, ResponseHandler, TransportFailure, TransportRequest } from '../transport.ts';
import { UndiciTransport } from '../undici-transport.ts';
import { wholeResponse } from '../../responses/whole-reader.ts';
import { RawTransport } from './raw-transport.ts';
import type { RawTransportOptions } from './raw-transport.ts';

const toClose: { close(): unknown }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await scriptedServer(script);
  toClose.push(server);
  return server;
}

function rawTransport(options: RawTransportOptions): RawTransport {
  const transport = new RawTransport(options);
  toClose.push(transport);
  return transport;
}

const get: TransportRequest = { method: 'GET', path: '/', headers: {}, body: null };

function failureOf(transport: RawTransport, request: TransportRequest): Promise<TransportFailure> {
  return new Promise((resolve, reject) => {
    const unexpected = (): void => reject(new Error('it was answered'));
    transport.send(request, {
      head: unexpected,
      data: unexpected,
      end: unexpected,
      failed: (_stamp, failure) => resolve(failure),
    });
  });
}

test('an unsolicited 100 Continue is skipped, as RFC 9110 §15.2 requires', async () => {
  const server = await serve((socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${streamOf(GOOD_STREAM)}`));
  const { closed } = await oneRequest(rawTransport({ origin: server.origin }));
  expect(closed.record).toMatchObject({ outcome: 'ok', http_status: 200 });
});

test('a folded header and an unknown transfer coding are refused, and the message repeats nothing', async () => {
  const heads = ['x: secret\r\n folded\r\ncontent-length: 0', 'transfer-encoding: gzip, chunked'];
  const server = await serve((socket, { position }) =>
    socket.write(`HTTP/1.1 200 OK\r\n${heads[position] ?? ''}\r\n\r\n`),
  );
  const transport = rawTransport({ origin: server.origin });
  expect(await failureOf(transport, get)).toEqual({
    reason: 'protocol',
    message: 'HTTP framing: a header line has no valid name',
  });
  expect(await failureOf(transport, get)).toEqual({
    reason: 'protocol',
    message: 'HTTP framing: a transfer-encoding other than chunked',
  });
});

describe('what is sent', () => {
  test('request line, host, the headers given, the length in bytes', async () => {
    const server = await serve((socket) => socket.write(response('200 OK', 'text/plain', 'x')));
    const transport = rawTransport({ origin: server.origin });
    const headers = { 'Content-Type': 'application/json', authorization: 'Bearer k' };
    await wholeResponse(transport, { method: 'POST', path: '/v1/x?a=b', headers, body: '{"é":1}' }, 60);
    await wholeResponse(transport, { method: 'POST', path: '/', headers, body: new Uint8Array([1, 2, 3]) }, 60);
    await wholeResponse(transport, { method: 'POST', path: '/', headers: { Host: 'h' }, body: null }, 60);
    await wholeResponse(transport, get, 60);
    const start = (line: string, host = `127.0.0.1:${server.port}`): string =>
      `${line} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive`;
    const given = 'Content-Type: application/json\r\nauthorization: Bearer k';
    expect(server.requests.map(({ head, body }) => [head, Buffer.from(body, 'latin1').toString()])).toEqual([
      [`${start('POST /v1/x?a=b')}\r\n${given}\r\ncontent-length: 8`, '{"é":1}'],
      [`${start('POST /')}\r\n${given}\r\ncontent-length: 3`, '\x01\x02\x03'],
      [`${start('POST /', 'h')}\r\ncontent-length: 0`, ''],
      [start('GET /'), ''],
    ]);
  });

  test.each([
    ['a path with a space', { path: '/a b' }, "the request's path is invalid"],
    ['a path that is an address', { path: 'http://x/' }, "the request's path is invalid"],
    ['a value with a line break', { headers: { key: 'sk\r\nx: y' } }, 'the value of the header key is invalid'],
    ['a value that is not Latin-1', { headers: { key: '→' } }, 'the value of the header key is invalid'],
    ['a name with a space', { headers: { 'a b': 'x' } }, 'the name of a header is invalid'],
    ['a length', { headers: { 'Content-Length': '5' } }, 'the header Content-Length is set by the transport'],
    [
      'a coding',
      { headers: { 'transfer-encoding': 'chunked' } },
      'the header transfer-encoding is set by the transport',
    ],
  ])('%s is not', async (_name, changes, message) => {
    const server = await serve(() => undefined);
    const transport = rawTransport({ origin: server.origin });
    expect(await failureOf(transport, { ...get, ...changes })).toEqual({ reason: 'other', message });
    expect(server.requests).toHaveLength(0);
  });

  test('an origin of another scheme is refused', () => {
    expect(() => new RawTransport({ origin: 'https://127.0.0.1' })).toThrow('raw sockets support http only');
  });
});

test('a response before the request was read is delivered, and its connection is not reused', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      // It reads no more: most of the request stays unwritten.
      socket.pause();
      socket.write(response('413 Content Too Large', 'text/plain', 'no'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = rawTransport({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const body = 'x'.repeat(32 * 2 ** 20);
  expect(await wholeResponse(transport, { ...get, method: 'POST', body }, 60)).toEqual({ status: 413, body: 'no' });
  expect((await wholeResponse(transport, get, 60)).status).toBe(413);
  expect(sockets).toHaveLength(2);
  await transport.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('a connection that was idle longer than its server keeps it is not reused', async () => {
  const server = await serve((socket) =>
    socket.write(response('200 OK', 'text/plain', 'x', 'keep-alive: timeout=3\r\n')),
  );
  const transport = rawTransport({ origin: server.origin });
  await wholeResponse(transport, get, 60);
  await sleep(1050);
  await wholeResponse(transport, get, 60);
  expect(server.connections()).toBe(2);
});

describe('with a fallback', () => {
  /** A blank line before the status line: undici overlooks it, the strict reader does not. */
  const LOOSE = `\r\n${response('200 OK', 'text/plain', 'loose')}`;

  async function asking(script: Script): Promise<{ server: ScriptedServer; transport: RawTransport }> {
    const server = await serve(script);
    const fallback = new UndiciTransport({ origin: server.origin });
    return { server, transport: rawTransport({ origin: server.origin, fallback }) };
  }

  test('a rejected head is requested again there and recorded as a retry; later requests follow', async () => {
    const { server, transport } = await asking((socket) => socket.write(LOOSE));
    const facts: ConnectionFacts[] = [];
    const ask = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const pieces: Uint8Array[] = [];
        const handler: ResponseHandler = {
          head: (_status, _headers, connection) => facts.push(connection),
          data: (_stamp, bytes, start, end) => pieces.push(Buffer.from(bytes.subarray(start, end))),
          end: () => resolve(Buffer.concat(pieces).toString()),
          failed: (_stamp, failure) => reject(new Error(failure.message)),
        };
        transport.send(get, handler);
      });
    expect(transport.kind).toBe('raw');
    expect(await ask()).toBe('loose');
    expect(await ask()).toBe('loose');
    expect(transport.kind).toBe('undici');
    expect(facts.map(({ reused, retried }) => [reused, retried])).toEqual([
      [false, true],
      [true, false],
    ]);
    // One over the raw socket, two over undici's.
    expect(server.requests.map(({ connection }) => connection)).toEqual([0, 1, 1]);
  });

  test('without one it is a failure', async () => {
    const server = await serve((socket) => socket.write(LOOSE));
    expect(await failureOf(rawTransport({ origin: server.origin }), get)).toEqual({
      reason: 'protocol',
      message: 'HTTP framing: not a status line of HTTP/1',
    });
  });

  test('abort and close reach it', async () => {
    const { server, transport } = await asking((socket, { position }) => position === 0 && socket.write(LOOSE));
    const waiting = wholeResponse(transport, get, 0.2);
    await expect(waiting).rejects.toMatchObject({ reason: 'request_timeout' });
    expect(server.requests).toHaveLength(2);
    const closing = wholeResponse(transport, get, 60);
    const expected = expect(closing).rejects.toMatchObject({ reason: 'cancelled' });
    await transport.close();
    await expected;
  });

  test('broken chunks after a valid head are not requested again', async () => {
    const { server, transport } = await asking((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx'),
    );
    await expect(wholeResponse(transport, get, 60)).rejects.toMatchObject({
      reason: 'protocol',
      message: "HTTP framing: an invalid chunk's size",
    });
    expect(server.requests).toHaveLength(1);
  });
});
