import { afterEach, describe, expect, test } from '@jest/globals';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { RunRemarks } from '../phases/run-remarks.ts';
import { GENEROUS, answeredBy, oneRequest } from '../testing/one-request.ts';
import type { Reported } from '../testing/one-request.ts';
import {
  delta,
  GOOD_STREAM,
  httpChunk,
  LAST_CHUNK,
  readThenWait,
  scriptedServer,
  sse,
  STREAM_HEAD,
  streamOf,
  usage,
} from '../testing/scripted-server.ts';
import { UndiciTransport } from '../transports/undici-transport.ts';
import { until } from '../../../core/testing/until.ts';

const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

const answering = (text: string | Buffer): Promise<Reported> => answeredBy((socket) => socket.write(text));
const [HELLO = '', WORLD = '', STOP = '', USAGE = '', DONE = ''] = GOOD_STREAM;

const choice = (index: number, content: string, finish_reason: string | null = null): string =>
  sse({ id: 'c', choices: [{ index, delta: content === '' ? {} : { content }, finish_reason }] });
/** With `continuous_usage_stats`: each event reports the tokens so far. */
const withUsage = (content: string, completion_tokens: number, finish_reason: string | null = null): string =>
  sse({ ...(delta(content, finish_reason) as object), usage: { prompt_tokens: 7, completion_tokens } });

describe('tokens and chunks', () => {
  test('usage that grew with an empty chunk: a token arrived', async () => {
    const { closed } = await answering(
      streamOf([
        withUsage('', 0),
        withUsage('He', 1),
        withUsage('', 2),
        withUsage('', 2),
        withUsage('llo', 3),
        withUsage('', 4, 'stop'),
        sse(usage(7, 4)),
        DONE,
      ]),
    );
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 4 });
    // 1, 2 and 3; the end of the sequence is a token that no client sees.
    expect(closed.record.chunk_offsets_ns).toHaveLength(3);
  });

  test('a first count is no growth', async () => {
    const { closed } = await answering(streamOf([HELLO, withUsage('', 5), WORLD, STOP, USAGE, DONE]));
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
  });

  test('counts in every chunk: the last one wins, never the sum', async () => {
    const { closed } = await answering(
      streamOf([withUsage('a', 1), withUsage('b', 2), withUsage('', 3, 'length'), DONE]),
    );
    expect(closed.record).toMatchObject({ outcome: 'ok', input_tokens: 7, output_tokens: 3 });
  });

  test('several choices interleaved: only the first has times', async () => {
    const events = [
      choice(0, 'a'),
      choice(1, 'b'),
      choice(1, 'c'),
      choice(2, 'd'),
      choice(1, '', 'abort'),
      choice(0, 'e'),
      choice(0, '', 'stop'),
      choice(2, 'f'),
      choice(2, '', 'length'),
      sse(usage(7, 6)),
      DONE,
    ];
    const { closed, gaps } = await answeredBy((socket) => socket.write(streamOf(events)), GENEROUS, [], { choices: 3 });
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 6 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
    expect(gaps).toBe(1);
  });

  test('several tokens per chunk: usage counts, not the chunks', async () => {
    const { closed } = await answering(streamOf([HELLO, WORLD, STOP, sse(usage(7, 8)), DONE]));
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 8 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
  });

  test('a tool call is output: its first piece is the first token', async () => {
    const call = (piece: object): string =>
      sse({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...piece }] }, finish_reason: null }] });
    const events = [
      call({ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }),
      call({ function: { arguments: '{"city":' } }),
      call({ function: { arguments: '' } }),
      call({ function: { arguments: '"Paris"}' } }),
      choice(0, '', 'tool_calls'),
      sse(usage(7, 9)),
      DONE,
    ];
    const { closed } = await answering(streamOf(events));
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 9 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(3);
  });

  test('usage that differs from the text: usage is kept, and the difference is reported', async () => {
    const remarks = new RunRemarks();
    const { closed } = await answering(streamOf([HELLO, WORLD, WORLD, STOP, sse(usage(7, 100)), DONE]));
    remarks.requestEnded(closed.record);
    expect(closed.record.output_tokens).toBe(100);
    expect(remarks.lines().some((line) => line.startsWith('token counts: usage counts 33.3'))).toBe(true);
  });
});

describe('proxies and redirects', () => {
  test('a proxy that buffers the whole stream is reported', async () => {
    const words = Array.from({ length: 20 }, (_, i) => sse(delta(` word${i}`)));
    const { closed } = await answeredBy((socket) => {
      setTimeout(() => socket.write(streamOf([...words, STOP, sse(usage(7, 20)), DONE])), 100);
    });
    const { record } = closed;
    expect(record).toMatchObject({ outcome: 'ok', output_tokens: 20 });
    const remarks = new RunRemarks();
    remarks.requestEnded(record);
    expect(remarks.lines().some((line) => line.startsWith('buffering: in 1 of 1 responses'))).toBe(true);
  });

  test('a stream that is not buffered has no remark', async () => {
    const { closed } = await answeredBy(async (socket: Socket) => {
      socket.write(STREAM_HEAD);
      for (let i = 0; i < 6; i++) {
        socket.write(httpChunk(WORLD));
        await readThenWait(15);
      }
      socket.write([STOP, sse(usage(7, 8)), DONE].map(httpChunk).join('') + LAST_CHUNK);
    });
    const remarks = new RunRemarks();
    remarks.requestEnded(closed.record);
    expect(remarks.lines()).toEqual([]);
  });

  test.each(['gzip', 'br', 'zstd', 'deflate'])(
    '%s although identity was requested: refused, not decoded',
    async (coding) => {
      const body = gzipSync(GOOD_STREAM.join(''));
      // Cut in the middle: it is never read.
      const cut = body.subarray(0, body.length / 2);
      const head = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: ${coding}\r\ncontent-length: ${cut.length}\r\n\r\n`;
      const { closed } = await answering(Buffer.concat([Buffer.from(head), cut]));
      expect(closed.record).toMatchObject({ outcome: 'error', reason: 'compression' });
      expect(closed.message).toBe(`HTTP 200: content-encoding ${coding} although identity was requested`);
    },
  );

  test.each([301, 302, 303, 307, 308])('HTTP %i is not followed', async (status) => {
    const { closed } = await answering(`HTTP/1.1 ${status} X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n`);
    expect(closed.record).toMatchObject({ reason: 'redirect', http_status: status });
  });
});

describe('a server that is faster than its reader', () => {
  const MEBIBYTE = 2 ** 20;

  /** Writes as much as the socket takes, `bytes` in all, then the end of the stream. */
  async function flood(socket: Socket, block: string, bytes: number): Promise<void> {
    const piece = httpChunk(block);
    socket.write(STREAM_HEAD);
    for (let sent = 0; sent < bytes; sent += piece.length) {
      if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
    }
    socket.write([STOP, USAGE, DONE].map(httpChunk).join('') + LAST_CHUNK);
  }

  test.each([
    ['events that are recognized', (): string => sse(delta(' word'.repeat(20))).repeat(200)],
    ['events that all have to be parsed', (): string => withUsage(' word'.repeat(20), 1).repeat(200)],
  ])('%s: none is lost, times do not go back, memory stays', async (_name, block) => {
    const text = block();
    const bytes = 48 * MEBIBYTE;
    const blocks = Math.ceil(bytes / httpChunk(text).length);
    const before = process.memoryUsage();
    let most = 0;
    const watching = setInterval(() => {
      const { heapUsed, external } = process.memoryUsage();
      most = Math.max(most, heapUsed + external);
    }, 20);
    const { closed } = await answeredBy((socket) => flood(socket, text, bytes));
    clearInterval(watching);
    const offsets = closed.record.chunk_offsets_ns;
    expect(closed.record.outcome).toBe('ok');
    expect(offsets).toHaveLength(200 * blocks);
    expect(offsets.every((offset, i) => i === 0 || offset >= (offsets[i - 1] ?? NaN))).toBe(true);
    // What waits to be parsed is bounded by 64 MiB; garbage of both sides lies about besides.
    expect(most - before.heapUsed - before.external).toBeLessThan(300 * MEBIBYTE);
  });
});

test('an event of 10 MB is read, one of 17 MiB is too long', async () => {
  const [long, tooLong] = [10_000_000, 17 * 2 ** 20].map((length) => sse(delta('x'.repeat(length))));
  const read = await answering(streamOf([long ?? '', STOP, USAGE, DONE]));
  expect(read.closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
  const { closed } = await answering(streamOf([HELLO, tooLong ?? '', STOP, USAGE, DONE]));
  expect(closed.record).toMatchObject({ outcome: 'error', reason: 'malformed_event' });
  expect(closed.message).toBe('an event is longer than the limit');
});

test('one byte at a time: each event has the time at which it was complete', async () => {
  const { closed } = await answeredBy(async (socket) => {
    socket.write(STREAM_HEAD);
    for (const byte of HELLO) socket.write(httpChunk(byte));
    await readThenWait(30);
    for (const byte of WORLD.slice(0, -1)) socket.write(httpChunk(byte));
    await readThenWait(30);
    socket.write([WORLD.slice(-1), STOP, USAGE, DONE].map(httpChunk).join('') + LAST_CHUNK);
  });
  const [first = NaN, second = NaN] = closed.record.chunk_offsets_ns;
  expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
  // The data line of the second was complete before its blank line came.
  expect(second - first).toBeGreaterThan(15e6);
});

test('giving up closes the connection', async () => {
  const server = await scriptedServer(() => undefined);
  const transport = new UndiciTransport({ origin: server.origin });
  toClose.push(server, transport);
  const { closed } = await oneRequest(transport, { ...GENEROUS, requestTimeoutSeconds: 0.1 });
  expect(closed.record.reason).toBe('request_timeout');
  await until(() => server.open() === 0);
});
