import { afterEach, describe, expect, test } from '@jest/globals';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expectNextIsGood, firstResponse } from '../testing/first-response.ts';
import type { FirstResponse } from '../testing/first-response.ts';
import { oneRequest } from '../testing/one-request.ts';
import {
  response,
  GOOD_STREAM,
  httpChunk,
  LAST_CHUNK,
  scriptedServer,
  STREAM_HEAD,
  streamOf,
} from '../testing/scripted-server.ts';
import type { Script } from '../testing/scripted-server.ts';
import { TRANSPORTS } from '../testing/transport-kinds.ts';
import type { OpenTransport } from '../testing/transport-kinds.ts';
import { wholeResponse } from '../responses/whole-reader.ts';

const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

const get = { method: 'GET', path: '/', headers: {}, body: null } as const;
const TYPE = 'content-type: text/event-stream\r\n';
const HEAD = `HTTP/1.1 200 OK\r\n${TYPE}`;
const BODY = GOOD_STREAM.join('');
const [HELLO = '', , ...REST] = GOOD_STREAM;

describe.each(TRANSPORTS)('%s', (_name, open: OpenTransport) => {
  async function once(script: Script): Promise<FirstResponse> {
    const pair = await firstResponse(open, script);
    toClose.push(pair);
    return pair;
  }

  test('a server with HTTP/2 only: the request fails, the run continues over a new connection', async () => {
    // SETTINGS, then GOAWAY with PROTOCOL_ERROR (RFC 9113 §6.5, §6.8).
    const settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const goAway = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    const pair = await once((socket) => socket.end(Buffer.from([...settings, ...goAway])));
    const { closed } = await oneRequest(pair.transport);
    expect(closed.record).toMatchObject({
      outcome: 'error',
      reason: 'protocol',
      http_status: null,
      first_content_ns: null,
    });
    expect(closed.message).toMatch(/the server answers in HTTP\/2$/);
    await expectNextIsGood(pair);
  });

  test('RST_STREAM and GOAWAY frames in the middle of an answer are no content', async () => {
    const reset = Buffer.from([0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 2]);
    const pair = await once((socket) => {
      socket.write(STREAM_HEAD + httpChunk(HELLO));
      socket.end(reset);
    });
    const { closed } = await oneRequest(pair.transport);
    expect(closed.record).toMatchObject({ outcome: 'error', http_status: 200 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(1);
    await expectNextIsGood(pair);
  });

  test.each([
    ['a size that is no number', `${STREAM_HEAD}${httpChunk(HELLO)}xyz\r\n`],
    ['no size', `${STREAM_HEAD}${httpChunk(HELLO)}\r\n`],
    ['a negative size', `${STREAM_HEAD}-5\r\n`],
    ['a size with 0x', `${STREAM_HEAD}0x5\r\nhello\r\n`],
    ['a size beyond all measure', `${STREAM_HEAD}fffffffffffffffff\r\n`],
    ['LF alone after the size', `${STREAM_HEAD}5\nhello\r\n${LAST_CHUNK}`],
    ['a chunk longer than its size', `${STREAM_HEAD}3\r\nhello\r\n${LAST_CHUNK}`],
    ['a chunk without its CR LF', `${STREAM_HEAD}5\r\nhello5\r\nhello\r\n`],
  ])('broken chunks: %s', async (_case, text) => {
    const pair = await once((socket) => socket.write(text));
    const { closed } = await oneRequest(pair.transport);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'protocol', http_status: 200 });
    await expectNextIsGood(pair);
  });

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['another protocol, without a line', '\x15\x03\x03\x00\x02\x02\x28'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['a status of two digits', `HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n`],
    ['LF alone', `HTTP/1.1 200 OK\ncontent-length: 0\n\n`],
    ['space before the colon', `HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n`],
    ['a header without a name', `HTTP/1.1 200 OK\r\n: x\r\ncontent-length: 0\r\n\r\n`],
    ['NUL in a header', `HTTP/1.1 200 OK\r\nx: a\0b\r\ncontent-length: 0\r\n\r\n`],
    ['a negative length', `HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n`],
    ['17 KiB of headers', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(17 * 1024)}\r\ncontent-length: 0\r\n\r\n`],
  ])('a head that is refused: %s', async (_case, text) => {
    const pair = await once((socket) => socket.write(text, 'latin1'));
    const { closed } = await oneRequest(pair.transport);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'protocol', http_status: null });
    await expectNextIsGood(pair);
  });

  test.each([
    ['two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc`],
    ['a length that is no number', `HTTP/1.1 200 OK\r\ncontent-length: 3, 3\r\n\r\nabc`],
    ['a length and chunks', `${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n${LAST_CHUNK}`],
  ])('a head whose lengths contradict each other: %s', async (_case, text) => {
    const pair = await once((socket) => socket.write(text));
    const { closed } = await oneRequest(pair.transport);
    expect(closed.record).toMatchObject({ outcome: 'error', http_status: null });
    // Undici reports it as a body of the wrong length.
    expect(['protocol', 'reset']).toContain(closed.record.reason);
    await expectNextIsGood(pair);
  });

  test('an unsolicited upgrade', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n';
    const pair = await once((socket) => socket.write(head));
    expect((await oneRequest(pair.transport)).closed.record.outcome).toBe('error');
    await expectNextIsGood(pair);
  });

  test('extensions and trailers of chunks are left out', async () => {
    const chunks = GOOD_STREAM.map((event) => `${event.length.toString(16).toUpperCase()};a="b";c\r\n${event}\r\n`);
    const text = `${STREAM_HEAD}${chunks.join('')}000\r\nserver-timing: total;dur=5\r\n\r\n`;
    const { server, transport } = await once((socket) => socket.write(text));
    expect((await oneRequest(transport)).closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
    await oneRequest(transport);
    expect(server.connections()).toBe(1);
  });

  test.each([204, 304])('HTTP %i has no body', async (status) => {
    const { server, transport } = await once((socket) => socket.write(`HTTP/1.1 ${status} X\r\n\r\n`));
    expect(await wholeResponse(transport, get, 60)).toEqual({ status, body: '' });
    await oneRequest(transport);
    expect(server.connections()).toBe(1);
  });

  test('HTTP 204 that announces a body: its connection is not reused', async () => {
    const pair = await once((socket) => socket.write('HTTP/1.1 204 X\r\ncontent-length: 5\r\n\r\n'));
    expect((await wholeResponse(pair.transport, get, 60)).status).toBe(204);
    await expectNextIsGood(pair);
  });

  test('headers: names in lower case, values without outer space, repeated ones joined', async () => {
    const head =
      'HTTP/1.1 200\r\nX-One: \t a  b \t\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\nempty:\r\nconstructor: c\r\n';
    const { transport } = await once((socket) => socket.write(`${head}content-length: 0\r\n\r\n`));
    const headers = await new Promise<Readonly<Record<string, string>>>((resolve, reject) => {
      let got: Readonly<Record<string, string>> = {};
      transport.send(get, {
        head: (_status, given) => (got = given),
        data: () => reject(new Error('there is no body')),
        end: () => resolve(got),
        failed: (_stamp, failure) => reject(new Error(failure.message)),
      });
    });
    expect({ ...headers }).toEqual({
      'x-one': 'a  b',
      'set-cookie': 'a=1, b=2',
      empty: '',
      constructor: 'c',
      'content-length': '0',
    });
  });

  test('one byte at a time', async () => {
    const text = `${STREAM_HEAD}${GOOD_STREAM.map(httpChunk).join('')}${LAST_CHUNK}`;
    const { server, transport } = await once(async (socket: Socket) => {
      for (const byte of text) {
        socket.write(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const { closed } = await oneRequest(transport);
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
    await oneRequest(transport);
    expect(server.connections()).toBe(1);
  });

  test('bytes that are kept stay as they were when more is read', async () => {
    const parts = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'];
    const { transport } = await once(async (socket: Socket) => {
      socket.write(STREAM_HEAD);
      for (const part of parts) {
        socket.write(httpChunk(part));
        // Each turn of the loop reads what has come.
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write(LAST_CHUNK);
    });
    expect((await wholeResponse(transport, get, 60)).body).toBe(parts.join(''));
  });

  test('a large body: every byte, in order', async () => {
    const block = Buffer.alloc(
      2 ** 20,
      Uint8Array.from({ length: 251 }, (_, i) => i),
    );
    const blocks = 32;
    const { transport } = await once(async (socket: Socket) => {
      socket.write(STREAM_HEAD);
      for (let i = 0; i < blocks; i++) {
        socket.write(`${block.length.toString(16)}\r\n`);
        socket.write(block);
        if (!socket.write('\r\n')) await new Promise((resolve) => socket.once('drain', resolve));
      }
      socket.write(LAST_CHUNK);
    });
    let bytesRead = 0;
    let wrong = 0;
    await new Promise<void>((resolve, reject) => {
      transport.send(get, {
        head: () => undefined,
        data: (_stamp, bytes, start, end) => {
          for (const byte of bytes.subarray(start, end)) if (byte !== (bytesRead++ % block.length) % 251) wrong++;
        },
        end: () => resolve(),
        failed: (_stamp, failure) => reject(new Error(failure.message)),
      });
    });
    expect([bytesRead, wrong]).toEqual([blocks * block.length, 0]);
  });

  test.each(['gzip', 'br', 'zstd', 'deflate'])('%s is refused, not decoded', async (coding) => {
    const body = gzipSync(BODY);
    const head = `${HEAD}content-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`;
    const { server, transport } = await once((socket) => socket.write(Buffer.concat([Buffer.from(head), body])));
    expect((await oneRequest(transport)).closed.record).toMatchObject({ outcome: 'error', reason: 'compression' });
    // Its body was read to the end.
    expect((await oneRequest(transport)).closed.record.connection_reused).toBe(true);
    expect(server.connections()).toBe(1);
  });

  test('responses before the response are skipped, and no time is taken from them', async () => {
    const { transport } = await once(async (socket: Socket) => {
      socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n');
      await sleep(60);
      socket.write(streamOf(GOOD_STREAM));
    });
    const { closed, firstContents } = await oneRequest(transport);
    expect(closed.record).toMatchObject({ outcome: 'ok', http_status: 200, output_tokens: 2 });
    expect(firstContents).toBe(1);
    expect(closed.record.chunk_offsets_ns[0]).toBeGreaterThan(50e6);
  });

  test('interim responses are skipped, alone and with others, in any pieces, also on a kept connection', async () => {
    const before = 'HTTP/1.1 100 Continue\r\nx: y\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 P\r\n\r\n';
    const alone = ['100 Continue', '102 Processing', '103 Early Hints'].map((status) => `HTTP/1.1 ${status}\r\n\r\n`);
    const texts = [...alone, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3), before];
    for (const text of texts) {
      const server = await scriptedServer(async (socket, { position }) => {
        const whole = text + streamOf(GOOD_STREAM);
        const cut = [whole.length, 4, text.length - 2, text.length, text.length + 5][position] ?? 0;
        socket.write(whole.slice(0, cut));
        await sleep(10);
        socket.write(whole.slice(cut));
      });
      const transport = open({ origin: server.origin });
      toClose.push(server, transport);
      for (let i = 0; i < 5; i++) {
        const { closed } = await oneRequest(transport);
        expect(closed.record).toMatchObject({ outcome: 'ok', http_status: 200, output_tokens: 2 });
      }
      expect(server.connections()).toBe(1);
    }
  });

  test('a server that switches to another protocol', async () => {
    const { transport } = await once((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'),
    );
    const { closed } = await oneRequest(transport);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'protocol' });
    expect(closed.message).toMatch(/the server switched to another protocol$/);
  });

  test('20 kB of header lines', async () => {
    const { transport } = await once((socket) =>
      socket.write(streamOf(GOOD_STREAM).replace('\r\n', `\r\nx-big: ${'a'.repeat(20_000)}\r\n`)),
    );
    const { closed } = await oneRequest(transport);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'protocol' });
    expect(closed.message).toMatch(/more than 16384 bytes of header lines$/);
  });

  test('NUL and invalid UTF-8 in a body pass through', async () => {
    const text = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"a#b#"},"finish_reason":null}]}\n\n');
    const broken = Buffer.from(text.map((byte, i) => (byte === 0x23 ? (text[i - 1] === 0x61 ? 0xff : 0xc3) : byte)));
    const chunk = Buffer.concat([Buffer.from(`${broken.length.toString(16)}\r\n`), broken, Buffer.from('\r\n')]);
    const { transport } = await once((socket) => {
      socket.write(
        Buffer.concat([Buffer.from(STREAM_HEAD), chunk, Buffer.from(REST.map(httpChunk).join('') + LAST_CHUNK)]),
      );
    });
    const { closed } = await oneRequest(transport);
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(1);
    const zeros = await once((socket) => socket.write(response('200 OK', 'text/plain', 'a\0b')));
    expect((await wholeResponse(zeros.transport, get, 60)).body).toBe('a\0b');
  });
});
