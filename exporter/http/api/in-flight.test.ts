import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import express, { type RequestHandler } from 'express';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { listen } from '../listen.ts';
import type { Listening } from '../listen.ts';
import { limitInFlight } from './in-flight.ts';
import { problemHandler } from '../problem.ts';
import { sendJson } from './send-json.ts';
import { until } from '../../../core/testing/until.ts';

let server: Listening;
let begun: { readonly id: string; readonly end: () => void }[];

beforeEach(async () => {
  begun = [];
  const app = express();
  app.use(limitInFlight({ maxInFlight: 1, maxWaiting: 1 }));
  app.get('/:id', (asked, response) => {
    begun.push({ id: asked.params.id, end: () => void response.send(asked.params.id) });
  });
  app.use(problemHandler(() => undefined));
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterEach(() => server.close());

const status = async (answer: ReturnType<typeof request>): Promise<number> => {
  const { statusCode, body } = await answer;
  await body.dump();
  return statusCode;
};

test('one is processed, one waits, a third must retry', async () => {
  const first = request(`${server.url}/first`);
  await until(() => begun.length >= 1);
  const others = [request(`${server.url}/second`), request(`${server.url}/third`)];
  const refused = await Promise.race(others.map(async (answer, i) => ({ i, answer: await answer })));
  expect([refused.answer.statusCode, refused.answer.headers['retry-after']]).toEqual([503, '1']);
  await refused.answer.body.dump();
  expect(begun).toHaveLength(1);
  begun[0]?.end();
  expect(await status(first)).toBe(200);
  await until(() => begun.length >= 2);
  begun[1]?.end();
  const waited = others[1 - refused.i];
  expect(waited && (await status(waited))).toBe(200);
});

/** Requests whose responses end by an event. */
function fakeClients(limit: RequestHandler) {
  const turn: string[] = [];
  const ask = (name: string, remoteAddress = '192.0.2.1'): EventEmitter => {
    const response = new EventEmitter();
    limit({ socket: { remoteAddress } } as never, response as never, () => void turn.push(name));
    return response;
  };
  return { turn, ask };
}

test('a client that disconnects while waiting frees its place', async () => {
  const { turn, ask } = fakeClients(limitInFlight({ maxInFlight: 1, maxWaiting: 1 }));
  const first = ask('first');
  const impatient = ask('impatient');
  expect(() => ask('refused')).toThrow('2 requests of this kind are in progress');
  impatient.emit('close');
  ask('next');
  expect(turn).toEqual(['first']);
  first.emit('close');
  await until(() => turn.length > 1);
  expect(turn).toEqual(['first', 'next']);
});

test('the requests of one client leave a place for others', async () => {
  const { turn, ask } = fakeClients(limitInFlight({ maxInFlight: 3, maxWaiting: 10 }));
  const one = ask('a1', '192.0.2.1');
  ask('a2', '192.0.2.1');
  ask('a3', '192.0.2.1');
  expect(turn).toEqual(['a1', 'a2']);
  ask('b1', '192.0.2.2');
  ask('b2', '192.0.2.2');
  expect(turn).toEqual(['a1', 'a2', 'b1']);
  one.emit('close');
  await until(() => turn.length > 3);
  expect(turn).toEqual(['a1', 'a2', 'b1', 'a3']);
});

describe('a client that does not read', () => {
  const BYTES = 64 * 1024 * 1024;
  let slow: Socket | undefined;
  let heavy: Listening;

  beforeEach(async () => {
    const app = express();
    app.use(limitInFlight({ maxInFlight: 1, maxWaiting: 1, minBytesPerSecond: 1000, window_ms: 200 }));
    app.get('/heavy', (asked, response) => sendJson(asked, response, 'x'.repeat(BYTES)));
    app.get('/late', (_asked, response) => void setTimeout(() => response.send('late'), 1000));
    heavy = await listen(app, { host: '127.0.0.1', port: 0 });
  });
  afterEach(async () => {
    slow?.destroy();
    await heavy.close();
  });

  const statusOf = async (path: string): Promise<number> => status(request(`${heavy.url}${path}`));

  test('loses its place to the next', async () => {
    slow = connect(heavy.port, '127.0.0.1');
    slow.pause();
    slow.on('error', () => undefined);
    slow.write('GET /heavy HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => slow?.once('readable', resolve));
    expect(await statusOf('/late')).toBe(200);
  });

  test('is not one that waits for a response which takes its time', async () => {
    expect(await statusOf('/late')).toBe(200);
    expect(await statusOf('/heavy')).toBe(200);
  });
});
