import { afterEach, describe, expect, test } from '@jest/globals';
import { Worker } from 'node:worker_threads';
import { oneRequest } from '../testing/one-request.ts';
import {
  response,
  delta,
  GOOD_STREAM,
  readThenWait,
  scriptedServer,
  sse,
  streamOf,
  usage,
} from '../testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../testing/scripted-server.ts';
import { TRANSPORTS } from '../testing/transport-kinds.ts';
import type { PlainOptions } from '../testing/transport-kinds.ts';
import type { Transport, TransportFailure } from './transport.ts';
import { wholeResponse, type WholeResponse } from '../responses/whole-reader.ts';
import { until } from '../../../core/testing/until.ts';

const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await scriptedServer(script);
  toClose.push(server);
  return server;
}

const get = { method: 'GET', path: '/', headers: {}, body: null } as const;

describe.each(TRANSPORTS)('%s', (_name, open) => {
  function transportTo(origin: string, options: Partial<PlainOptions> = {}): Transport {
    const transport = open({ origin, ...options });
    toClose.push(transport);
    return transport;
  }

  describe('connections that fail', () => {
    test('refused', async () => {
      const server = await scriptedServer(() => undefined);
      await server.close();
      const { closed } = await oneRequest(transportTo(server.origin));
      expect(closed.record).toMatchObject({ outcome: 'error', reason: 'connect_refused', connect_ns: null });
      expect(closed.message).toContain('ECONNREFUSED');
    });

    test('no such host', async () => {
      const { closed } = await oneRequest(transportTo('http://no-such-host.invalid:80'));
      expect(closed.record).toMatchObject({ outcome: 'error', reason: 'dns' });
    });
  });

  describe('kept connections', () => {
    test('are reused, and the record reports it', async () => {
      const server = await serve((socket) => socket.write(streamOf(GOOD_STREAM)));
      const transport = transportTo(server.origin);
      const first = (await oneRequest(transport)).closed.record;
      const second = (await oneRequest(transport)).closed.record;
      expect(first).toMatchObject({ connection_reused: false, connection_retried: false, outcome: 'ok' });
      expect(first.connect_ns).toBeGreaterThan(0);
      // The handshake is a part of the connecting, and of the first request only.
      expect(first.tcp_connect_ns).toBeGreaterThan(0);
      expect(first.tcp_connect_ns).toBeLessThanOrEqual(first.connect_ns ?? NaN);
      expect(second).toMatchObject({ connection_reused: true, connect_ns: null, tcp_connect_ns: null, outcome: 'ok' });
      expect(server.connections()).toBe(1);
    });

    test('closed on reuse: sent again over a new one, and the retry is recorded', async () => {
      const server = await serve((socket, { position }) => {
        if (position === 1) socket.resetAndDestroy();
        else socket.write(streamOf(GOOD_STREAM));
      });
      const transport = transportTo(server.origin);
      await oneRequest(transport);
      const { closed } = await oneRequest(transport);
      expect(closed.record).toMatchObject({ outcome: 'ok', connection_reused: false });
      expect(closed.connectionRetried).toBe(true);
      expect(server.requests).toHaveLength(3);
      expect(server.connections()).toBe(2);
    });

    test('closed twice: an error after the one retry', async () => {
      const server = await serve((socket, { position }) => {
        if (position > 0) socket.resetAndDestroy();
        else socket.write(streamOf(GOOD_STREAM));
      });
      const transport = transportTo(server.origin);
      await oneRequest(transport);
      const { closed } = await oneRequest(transport);
      expect(closed.record).toMatchObject({ outcome: 'error', reason: 'reset' });
      expect(closed.connectionRetried).toBe(true);
      expect(server.requests).toHaveLength(3);
    });

    test('not sent again after the first byte of a response', async () => {
      const server = await serve((socket, { position }) => {
        if (position === 0) socket.write(streamOf(GOOD_STREAM));
        else socket.write('HTTP/1.1 200 O', () => void readThenWait(0).then(() => socket.resetAndDestroy()));
      });
      const transport = transportTo(server.origin);
      await oneRequest(transport);
      const { closed } = await oneRequest(transport);
      expect(closed.record).toMatchObject({ outcome: 'error', reason: 'reset' });
      expect(closed.connectionRetried).toBe(false);
      expect(server.requests).toHaveLength(2);
    });

    test('a first connection that is reset is not retried', async () => {
      const server = await serve((socket) => socket.resetAndDestroy());
      const { closed } = await oneRequest(transportTo(server.origin));
      expect(closed.connectionRetried).toBe(false);
      expect(server.requests).toHaveLength(1);
    });

    test('closed by the server while idle: a new one, without a retry', async () => {
      const server = await serve((socket) => socket.end(streamOf(GOOD_STREAM)));
      const transport = transportTo(server.origin);
      await oneRequest(transport);
      await until(() => server.open() === 0);
      const { closed } = await oneRequest(transport);
      expect(closed.record).toMatchObject({ outcome: 'ok', connection_reused: false });
      expect(server.requests).toHaveLength(2);
    });

    test.each([
      ['in the same packet', 0],
      ['while the connection is idle', 30],
    ])('an unsolicited second answer %s is never taken for the next one', async (_name, delay) => {
      const stray = streamOf([sse(delta('stray')), sse(delta('', 'stop')), sse(usage(666, 666)), sse('[DONE]')]);
      const server = await serve((socket, { position }) => {
        if (position > 0) socket.write(streamOf(GOOD_STREAM));
        else if (delay === 0) socket.write(streamOf(GOOD_STREAM) + stray);
        else socket.write(streamOf(GOOD_STREAM), () => void readThenWait(delay).then(() => socket.write(stray)));
      });
      const transport = transportTo(server.origin);
      const first = await oneRequest(transport);
      if (delay > 0) await until(() => server.open() === 0);
      const second = await oneRequest(transport);
      expect(first.closed.record.output_tokens).toBe(2);
      expect(second.closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
      expect(server.connections()).toBe(2);
    });
  });

  describe('giving up', () => {
    test('abort closes the connection and fails with the reason given', async () => {
      const server = await serve(() => undefined);
      const transport = transportTo(server.origin);
      const calls: string[] = [];
      await new Promise<void>((resolve) => {
        const exchange = transport.send(get, {
          head: () => calls.push('head'),
          data: () => calls.push('data'),
          end: () => calls.push('end'),
          failed: (_stamp, failure) => {
            calls.push(failure.reason);
            resolve();
          },
        });
        void until(() => server.requests.length === 1).then(() => {
          exchange.abort({ reason: 'cancelled', message: 'enough' });
          exchange.abort({ reason: 'other', message: 'twice' });
        });
      });
      await until(() => server.open() === 0);
      expect(calls).toEqual(['cancelled']);
    });

    test('an answer that arrived while the client was busy is not taken for that of the next request', async () => {
      // A thread of its own, which writes while this one is blocked.
      const isLate = new Int32Array(new SharedArrayBuffer(4));
      const worker = new Worker(
        `const { parentPort, workerData: isLate } = require('node:worker_threads');
         const answer = (body) => ['HTTP/1.1 200 OK', 'content-length: ' + body.length, '', body].join('\\r\\n');
         let requests = 0;
         const server = require('node:net').createServer((socket) => {
           socket.on('error', () => undefined);
           socket.on('data', () => {
             socket.write(answer('own ' + ++requests));
             if (requests > 1) return;
             setTimeout(() => {
               socket.write(answer('late'));
               Atomics.store(isLate, 0, 1);
               Atomics.notify(isLate, 0);
             }, 100);
           });
         });
         server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
        { eval: true, workerData: isLate },
      );
      toClose.push({ close: async () => void (await worker.terminate()) });
      const port = await new Promise<number>((resolve) => worker.once('message', resolve));
      const transport = transportTo(`http://127.0.0.1:${port}`);
      expect((await wholeResponse(transport, get, 60)).body).toBe('own 1');
      const second = new Promise<WholeResponse>((resolve, reject) => {
        // A timer runs before the loop reads sockets, as the due time of a request.
        setTimeout(() => {
          Atomics.wait(isLate, 0, 0);
          wholeResponse(transport, get, 60).then(resolve, reject);
        }, 0);
      });
      expect((await second).body).toBe('own 2');
    });

    test('abort before the request was written', async () => {
      const server = await serve((socket) => socket.write(streamOf(GOOD_STREAM)));
      const transport = transportTo(server.origin);
      const abortedAtOnce = (): Promise<string> =>
        new Promise((resolve) => {
          const handler = {
            head: (): void => undefined,
            data: (): void => undefined,
            end: (): void => resolve('end'),
            failed: (_stamp: number, failure: TransportFailure): void => resolve(failure.reason),
          };
          transport.send(get, handler).abort({ reason: 'cancelled', message: 'enough' });
        });
      expect(await abortedAtOnce()).toBe('cancelled');
      await oneRequest(transport);
      // Now over a kept connection.
      expect(await abortedAtOnce()).toBe('cancelled');
    });

    test('close cancels requests in flight and all later ones', async () => {
      const server = await serve(() => undefined);
      const transport = open({ origin: server.origin });
      const waiting = wholeResponse(transport, get, 60);
      const expected = expect(waiting).rejects.toMatchObject({ reason: 'cancelled' });
      await until(() => server.requests.length === 1);
      await transport.close();
      await expected;
      await expect(wholeResponse(transport, get, 60)).rejects.toMatchObject({ reason: 'cancelled' });
      await until(() => server.open() === 0);
    });

    test('an invalid request fails, not before send has returned', async () => {
      const transport = transportTo('http://127.0.0.1:9');
      let returned = false;
      const reason = await new Promise<string>((resolve) => {
        transport.send(
          { ...get, headers: { 'bad\nname': 'x' } },
          {
            head: () => undefined,
            data: () => undefined,
            end: () => undefined,
            failed: (_stamp, failure) => resolve(`${failure.reason} ${returned}`),
          },
        );
        returned = true;
      });
      expect(reason).toBe('other true');
    });
  });

  describe('wholeAnswer', () => {
    test('collects status and body', async () => {
      const server = await serve((socket) => socket.write(response('404 Not Found', 'text/plain', 'nothing')));
      expect(await wholeResponse(transportTo(server.origin), get, 60)).toEqual({ status: 404, body: 'nothing' });
    });

    test('fails in time', async () => {
      const server = await serve(() => undefined);
      const waiting = wholeResponse(transportTo(server.origin), get, 0.05);
      await expect(waiting).rejects.toMatchObject({ reason: 'request_timeout' });
    });
  });

  test('many requests at once: each gets its own answer', async () => {
    const server = await serve((socket, { body }) => {
      const wanted = (JSON.parse(body) as { n: number }).n;
      setTimeout(() => socket.write(response('200 OK', 'text/plain', String(wanted))), (wanted * 7) % 13);
    });
    const transport = transportTo(server.origin);
    const ask = async (n: number): Promise<string> =>
      (await wholeResponse(transport, { ...get, method: 'POST', body: JSON.stringify({ n }) }, 60)).body;
    for (let round = 0; round < 5; round++) {
      const numbers = Array.from({ length: 40 }, (_, i) => round * 40 + i);
      expect(await Promise.all(numbers.map(ask))).toEqual(numbers.map(String));
    }
    expect(server.connections()).toBe(40);
  });
});
