import { afterEach, describe, expect, test } from '@jest/globals';
import { expectNextIsGood, firstResponse } from '../testing/first-response.ts';
import type { FirstResponse } from '../testing/first-response.ts';
import { oneRequest } from '../testing/one-request.ts';
import { GOOD_STREAM, httpChunk, STREAM_HEAD } from '../testing/scripted-server.ts';
import type { Script } from '../testing/scripted-server.ts';
import { TRANSPORTS } from '../testing/transport-kinds.ts';
import type { OpenTransport } from '../testing/transport-kinds.ts';

const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

const TYPE = 'content-type: text/event-stream\r\n';
const HEAD = `HTTP/1.1 200 OK\r\n${TYPE}`;
const BODY = GOOD_STREAM.join('');
const [HELLO = '', WORLD = ''] = GOOD_STREAM;

describe.each(TRANSPORTS)('%s', (_name, open: OpenTransport) => {
  async function once(script: Script): Promise<FirstResponse> {
    const pair = await firstResponse(open, script);
    toClose.push(pair);
    return pair;
  }

  test('reset before the first byte', async () => {
    const pair = await once((socket) => socket.resetAndDestroy());
    const { closed, firstContents } = await oneRequest(pair.transport);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'reset', http_status: null });
    expect(firstContents).toBe(0);
    await expectNextIsGood(pair);
  });

  test('reset in the middle: earlier chunks are kept', async () => {
    const pair = await once(async (socket) => {
      socket.write(STREAM_HEAD + httpChunk(HELLO) + httpChunk(WORLD));
      // What was not read yet would be lost with the reset: each turn of the loop reads what has come.
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      socket.resetAndDestroy();
    });
    const { closed } = await oneRequest(pair.transport);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'reset', http_status: 200 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
    await expectNextIsGood(pair);
  });

  test.each([
    ['chunked', STREAM_HEAD + httpChunk(HELLO)],
    ['within a chunk', STREAM_HEAD + httpChunk(HELLO) + httpChunk(WORLD).slice(0, 20)],
    ['the last chunk missing', STREAM_HEAD + GOOD_STREAM.map(httpChunk).join('')],
    ['the end of the trailers missing', `${STREAM_HEAD}${GOOD_STREAM.map(httpChunk).join('')}0\r\n`],
    ['with a length', `${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY.slice(0, -20)}`],
    ['with a length, announced to close', `${HEAD}connection: close\r\ncontent-length: 9999\r\n\r\n${HELLO}`],
    [
      'chunked, announced to close',
      `${HEAD}connection: close\r\ntransfer-encoding: chunked\r\n\r\n${httpChunk(HELLO)}`,
    ],
    ['within the head', HEAD],
    ['within the status line', 'HTTP/1.1 20'],
    ['without an answer', ''],
    ['after 103', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('the connection ends too early: %s', async (_case, text) => {
    const pair = await once((socket) => socket.end(text));
    const { closed } = await oneRequest(pair.transport);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'reset' });
    await expectNextIsGood(pair);
  });

  test('a body without a length that ends before its stream does', async () => {
    const { transport } = await once((socket) => socket.end(`${HEAD}\r\n${HELLO}${WORLD}`));
    const { closed } = await oneRequest(transport);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'no_finish' });
  });

  test.each([
    ['HTTP/1.0', `HTTP/1.0 200 OK\r\n${TYPE}\r\n${BODY}`],
    ['HTTP/1.0 that reports it', `HTTP/1.0 200 OK\r\n${TYPE}connection: close\r\n\r\n${BODY}`],
    ['HTTP/1.1 without a length', `${HEAD}\r\n${BODY}`],
    ['HTTP/1.1, a length, closed', `${HEAD}connection: close\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`],
  ])('%s: read to the close, and the connection is not used again', async (_case, text) => {
    const pair = await once((socket) => socket.end(text));
    const { closed } = await oneRequest(pair.transport);
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
    await expectNextIsGood(pair);
  });

  test('Connection: close is respected even when the server leaves the connection open', async () => {
    const head = `${HEAD}connection: TE, Close\r\ncontent-length: ${BODY.length}\r\n\r\n`;
    const pair = await once((socket) => socket.write(head + BODY));
    expect((await oneRequest(pair.transport)).closed.record.outcome).toBe('ok');
    await expectNextIsGood(pair);
  });

  test.each([
    [
      'HTTP/1.0 with keep-alive',
      `HTTP/1.0 200 OK\r\n${TYPE}connection: keep-alive\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
      1,
    ],
    ['a long keep-alive', `${HEAD}keep-alive: timeout=30\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`, 1],
    [
      'a keep-alive that is over at once',
      `${HEAD}keep-alive: timeout=1\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
      2,
    ],
  ])('%s', async (_case, text, connections) => {
    const { server, transport } = await once((socket) => socket.write(text));
    await oneRequest(transport);
    const { closed } = await oneRequest(transport);
    expect(closed.record).toMatchObject({ outcome: 'ok', connection_reused: connections === 1 });
    expect(server.connections()).toBe(connections);
  });
});
