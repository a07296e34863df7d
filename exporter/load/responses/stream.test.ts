import { describe, expect, test } from '@jest/globals';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answeredBy, GENEROUS } from '../testing/one-request.ts';
import type { Reported } from '../testing/one-request.ts';
import {
  response,
  delta,
  GOOD_STREAM,
  httpChunk,
  LAST_CHUNK,
  readThenWait,
  sse,
  STREAM_HEAD,
  streamOf,
  usage,
} from '../testing/scripted-server.ts';

const answering = (text: string | Buffer): Promise<Reported> => answeredBy((socket) => socket.write(text));
const reasonOf = async (reported: Promise<Reported>): Promise<unknown> => (await reported).closed.record.reason;
const DONE = sse('[DONE]');
const [HELLO = '', WORLD = '', STOP = '', USAGE = ''] = GOOD_STREAM;

describe('a good stream', () => {
  test('gives times, tokens and nothing else', async () => {
    const { closed, firstContents, gaps } = await answering(streamOf(GOOD_STREAM));
    const { record } = closed;
    expect(record).toMatchObject({
      index: 0,
      phase: 'measure',
      outcome: 'ok',
      reason: null,
      http_status: 200,
      connection_reused: false,
      input_tokens: 7,
      input_tokens_source: 'usage',
      output_tokens: 2,
      output_tokens_source: 'usage',
      reasoning_tokens: null,
      cached_tokens: null,
      requested_output_tokens: 8,
    });
    const { due_ns, sent_ns, first_content_ns, last_content_ns, end_ns, connect_ns, chunk_offsets_ns } = record;
    const times = [due_ns, sent_ns, first_content_ns ?? NaN, last_content_ns ?? NaN, end_ns];
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect([...times, connect_ns].every(Number.isInteger)).toBe(true);
    expect(chunk_offsets_ns).toEqual([(first_content_ns ?? NaN) - sent_ns, (last_content_ns ?? NaN) - sent_ns]);
    expect([firstContents, gaps]).toEqual([1, 1]);
    expect(closed).toMatchObject({ message: null, retryAfterSeconds: null, connectionRetried: false });
  });

  test('chunks keep their own arrival times', async () => {
    const { closed } = await answeredBy(async (socket: Socket) => {
      socket.write(STREAM_HEAD);
      for (const event of [HELLO, WORLD, WORLD, WORLD]) {
        socket.write(httpChunk(event));
        await readThenWait(20);
      }
      socket.write([STOP, USAGE, DONE].map(httpChunk).join('') + LAST_CHUNK);
    });
    const offsets = closed.record.chunk_offsets_ns;
    expect(offsets).toHaveLength(4);
    // A timer may be early by a millisecond.
    for (const [i, offset] of offsets.slice(1).entries()) expect(offset - (offsets[i] ?? 0)).toBeGreaterThan(18e6);
  });

  test.each([
    ['one byte at a time', (text: string): string[] => [...text]],
    ['all at once', (text: string): string[] => [text]],
    ['in pieces of 7', (text: string): string[] => text.match(/.{1,7}/gs) ?? []],
  ])('body %s', async (_name, split) => {
    const text = `: hello\r\n\r\n${GOOD_STREAM.join('').replaceAll('\n', '\r\n')}`;
    const { closed } = await answering(STREAM_HEAD + split(text).map(httpChunk).join('') + LAST_CHUNK);
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
  });

  test('role, empty and usage chunks are no tokens; the last usage counts', async () => {
    const role = sse({ choices: [{ delta: { role: 'assistant', content: '' }, finish_reason: null }], usage: null });
    const events = [
      role,
      HELLO,
      sse(usage(7, 1)),
      sse(delta('')),
      WORLD,
      STOP,
      sse(usage(7, 2)),
      sse(usage(7, 9)),
      DONE,
    ];
    const { closed } = await answering(streamOf(events));
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 9 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
  });

  test('HTTP/1.0 body that ends with the connection', async () => {
    const head = 'HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
    const { closed } = await answeredBy((socket) => socket.end(head + GOOD_STREAM.join('')));
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
  });

  test('a wrong content type does not matter: the events decide', async () => {
    const reported = answering(response('200 OK', 'text/plain', GOOD_STREAM.join('')));
    expect(await reasonOf(reported)).toBeNull();
  });

  test('invalid UTF-8 does not lose the request', async () => {
    const broken = sse(delta('a\u00ffb'));
    expect(await reasonOf(answering(Buffer.from(streamOf([broken, WORLD, STOP, USAGE, DONE]), 'latin1')))).toBeNull();
  });

  test('1xx responses are skipped', async () => {
    const { closed } = await answering(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${streamOf(GOOD_STREAM)}`);
    expect(closed.record).toMatchObject({ outcome: 'ok', http_status: 200 });
  });

  test('without usage tokens are unknown, never counted from chunks', async () => {
    const { closed } = await answering(streamOf([HELLO, WORLD, STOP, DONE]));
    expect(closed.record).toMatchObject({
      outcome: 'ok',
      output_tokens: null,
      output_tokens_source: null,
      input_tokens: null,
    });
  });
});

describe('how a stream ends', () => {
  test.each([
    ['[DONE] missing after a finish reason', [HELLO, STOP, USAGE], null],
    ['usage and [DONE] without a finish reason', [HELLO, USAGE, DONE], null],
    ['usage without [DONE] or a finish reason', [HELLO, USAGE], 'no_finish'],
    ['end in the middle', [HELLO, WORLD], 'no_finish'],
    ['[DONE] without finish or usage', [HELLO, DONE], 'no_finish'],
    ['everything after the first [DONE] is ignored', [HELLO, STOP, DONE, DONE, sse('junk'), USAGE], null],
    ['[DONE] before the finish', [HELLO, DONE, STOP, USAGE], 'no_finish'],
    ['[DONE]x', [HELLO, STOP, USAGE, sse('[DONE]x')], 'malformed_event'],
    ['[DONE] over two lines', [HELLO, STOP, 'data: [DO\ndata: NE]\n\n'], 'malformed_event'],
    ['only [DONE]', [DONE], 'no_finish'],
    ['a finish without content', [STOP, USAGE, DONE], 'no_content'],
    ['malformed JSON', [HELLO, sse('{"a": '), STOP, USAGE, DONE], 'malformed_event'],
    ['another protocol', [HELLO, sse({ foo: 'text' }), STOP, USAGE, DONE], 'malformed_event'],
    ['an event without text', [HELLO, sse({ foo: 1 }), STOP, USAGE, DONE], null],
    [
      'error object, then [DONE]',
      [HELLO, sse({ error: { message: 'Internal server error', code: 500 } }), DONE],
      'error_event',
    ],
    ['finish_reason abort', [HELLO, sse(delta('', 'abort')), DONE], 'error_event'],
    ['a stream of comments', [': ping\n\n', ': ping\n\n'], 'no_finish'],
    ['unterminated last event, whole JSON', [HELLO, WORLD, STOP.trimEnd()], null],
    ['unterminated last event, cut JSON', [HELLO, WORLD, STOP.slice(0, -8)], 'no_finish'],
  ])('%s', async (_name, events, reason) => {
    expect(await reasonOf(answering(streamOf(events)))).toBe(reason);
  });

  test('usage after [DONE] is not taken', async () => {
    const { closed } = await answering(streamOf([HELLO, STOP, DONE, USAGE]));
    expect(closed.record.output_tokens).toBeNull();
  });

  test("a failed stream keeps its times, and the server's message is separate from the record", async () => {
    const error = sse({ error: { message: 'out of memory\n\u001b[31m' + 'x'.repeat(500) } });
    const { closed, firstContents } = await answering(streamOf([HELLO, WORLD, error, DONE]));
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'error_event' });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
    expect(firstContents).toBe(1);
    expect(closed.message).toMatch(/^out of memory \[31mx+…$/);
    expect(closed.message).toHaveLength(200);
    expect(JSON.stringify(closed.record)).not.toContain('out of memory');
  });

  test('a malformed event is described by its keys, not by its text', async () => {
    const event = sse({ type: 'note', say: 'a secret', '\u001b[31m': 1 });
    const { closed } = await answering(streamOf([HELLO, event, STOP, DONE]));
    expect(closed.message).toBe('an event is not of the chat protocol: {type, say, __31m}');
  });

  test('names of fields are shown without control characters, and only some of them', async () => {
    const odd = Array.from({ length: 20 }, (_, i) => sse({ choices: [{ delta: { [`\u001b[${i}m`]: 'x' } }] }));
    const { closed } = await answering(streamOf([...odd, STOP, DONE]));
    const names = Object.keys(closed.findings?.unknownFields ?? {});
    expect(names).toHaveLength(9);
    expect(names).toEqual(expect.arrayContaining(['delta.__0m', 'others']));
  });

  test('a malformed event is not quoted', async () => {
    const { closed } = await answering(streamOf([HELLO, sse('{"secret": '), STOP, DONE]));
    expect(closed.message).toBe('an event is not JSON');
  });
});

describe('HTTP status and body', () => {
  test.each([
    [
      '429',
      response('429 Too Many', 'application/json', '{"error":{"message":"slow down"}}'),
      'http_429',
      'HTTP 429: slow down',
    ],
    [
      '404',
      response('404 Not Found', 'application/json', '{"error":{"message":"no model m"}}'),
      'http_4xx',
      'HTTP 404: no model m',
    ],
    [
      '422 of FastAPI',
      response('422 X', 'application/json', '{"detail":"bad field"}'),
      'http_4xx',
      'HTTP 422: bad field',
    ],
    [
      'a page of HTML',
      response('502 Bad Gateway', 'text/html', '<html><style>p{}</style><h1>502</h1>\r\n<p>nginx</p></html>'),
      'http_5xx',
      'HTTP 502: 502 nginx',
    ],
    ['500 without a body', response('500 X', 'text/plain', ''), 'http_5xx', 'HTTP 500: text/plain'],
    [
      'JSON error with 200',
      response('200 OK', 'application/json', '{"error":{"message":"no stream"}}'),
      'not_a_stream',
      'HTTP 200: no stream',
    ],
    [
      'JSON error said to be a stream',
      response('200 OK', 'text/event-stream', '{"error":"x"}'),
      'not_a_stream',
      'HTTP 200: x',
    ],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 'not_a_stream', 'HTTP 204'],
    [
      'a redirect is not followed',
      response('307 Temporary Redirect', 'text/plain', '', 'location: /elsewhere?key=1\r\n'),
      'redirect',
      'HTTP 307: redirects are not followed (to /elsewhere)',
    ],
    [
      'compressed although identity was requested',
      response('200 OK', 'text/event-stream', 'xxxx', 'content-encoding: gzip\r\n'),
      'compression',
      'HTTP 200: content-encoding gzip although identity was requested',
    ],
  ])('%s', async (_name, text, reason, message) => {
    const { closed, firstContents } = await answering(text);
    expect(closed.record.reason).toBe(reason);
    expect(closed.message).toBe(message);
    expect(closed.record.first_content_ns).toBeNull();
    expect(firstContents).toBe(0);
  });

  test('a key that the server repeats is not shown', async () => {
    const body = '{"error":{"message":"Incorrect API key: sk-12345"}}';
    const script = (socket: Socket): unknown => socket.write(response('401 X', 'application/json', body));
    const { closed } = await answeredBy(script, undefined, ['sk-12345']);
    expect(closed.message).toBe('HTTP 401: Incorrect API key: ***');
  });

  test.each([
    ['2', 2],
    ['-5', null],
    ['abc', null],
    ['99999999', 60],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 60],
    ['Fri, 31 Dec 1999 23:59:59 GMT', 0],
  ])('Retry-After: %s', async (value, seconds) => {
    const { closed } = await answering(response('429 X', 'text/plain', '', `retry-after: ${value}\r\n`));
    expect(closed.retryAfterSeconds).toBe(seconds);
  });

  test('a Retry-After beyond what is waited is named', async () => {
    const { closed } = await answering(response('429 X', 'text/plain', 'slow down', 'retry-after: 9999\r\n'));
    expect(closed.message).toBe('HTTP 429: slow down; Retry-After requests 9999 s, of which 60 s are waited');
  });
});

describe('broken connections and silence', () => {
  test('reset before the first byte', async () => {
    const { closed } = await answeredBy((socket) => socket.resetAndDestroy());
    expect(closed.record).toMatchObject({
      outcome: 'error',
      reason: 'reset',
      http_status: null,
      first_content_ns: null,
    });
  });

  const interrupted = async (cut: (socket: Socket) => unknown): Promise<void> => {
    const { closed } = await answeredBy(async (socket) => {
      socket.write(STREAM_HEAD + [HELLO, WORLD].map(httpChunk).join(''));
      await readThenWait(0);
      cut(socket);
    });
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'reset', http_status: 200, output_tokens: null });
    expect(closed.record.chunk_offsets_ns).toHaveLength(2);
  };

  test('reset in the middle', () => interrupted((socket) => socket.resetAndDestroy()));
  test('FIN in the middle of the chunked body', () => interrupted((socket) => socket.end()));

  test('bad chunk size', async () => {
    const { closed } = await answering(`${STREAM_HEAD}${httpChunk(HELLO)}zz\r\nrubbish`);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'protocol' });
  });

  test('not HTTP at all', async () => {
    const { closed } = await answering('SSH-2.0-OpenSSH_9.2\r\n');
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'protocol' });
    expect(closed.message).not.toBeNull();
  });

  test('a server that never responds', async () => {
    const { closed } = await answeredBy(() => undefined, { ...GENEROUS, requestTimeoutSeconds: 0.1 });
    expect(closed.record).toMatchObject({ outcome: 'timeout', reason: 'request_timeout', http_status: null });
  });

  test('a stall in the middle', async () => {
    const { closed } = await answeredBy((socket) => socket.write(STREAM_HEAD + httpChunk(HELLO)), {
      ...GENEROUS,
      idleTimeoutSeconds: 0.1,
    });
    expect(closed.record).toMatchObject({ outcome: 'timeout', reason: 'idle_timeout', http_status: 200 });
    expect(closed.record.chunk_offsets_ns).toHaveLength(1);
  });

  test('a first token that does not come', async () => {
    const { closed } = await answeredBy(() => undefined, { ...GENEROUS, firstTokenTimeoutSeconds: 0.1 });
    expect(closed.record).toMatchObject({ outcome: 'timeout', reason: 'first_token_timeout', http_status: null });
    expect(closed.message).toBe('no content within 0.1 s');
  });

  test('comments do not count as the first token', async () => {
    const { closed } = await answeredBy(
      async (socket) => {
        socket.write(STREAM_HEAD);
        while (!socket.destroyed) {
          socket.write(httpChunk(': ping\n\n'));
          await sleep(10);
        }
      },
      { ...GENEROUS, firstTokenTimeoutSeconds: 0.3, idleTimeoutSeconds: 60 },
    );
    expect(closed.record).toMatchObject({ outcome: 'timeout', reason: 'first_token_timeout', http_status: 200 });
  });

  test('a response that has not begun is not idle', async () => {
    const { closed } = await answeredBy(
      async (socket) => {
        await sleep(400);
        socket.write(streamOf(GOOD_STREAM));
      },
      { ...GENEROUS, idleTimeoutSeconds: 0.1 },
    );
    expect(closed.record.outcome).toBe('ok');
  });

  test('comments reset the idle timer', async () => {
    const { closed } = await answeredBy(
      async (socket) => {
        socket.write(STREAM_HEAD);
        for (let i = 0; i < 50; i++) {
          socket.write(httpChunk(': ping\n\n'));
          await sleep(50);
        }
        socket.write(GOOD_STREAM.map(httpChunk).join('') + LAST_CHUNK);
      },
      { ...GENEROUS, idleTimeoutSeconds: 2 },
    );
    expect(closed.record.outcome).toBe('ok');
  });
});
