import { EventEmitter } from 'node:events';
import express from 'express';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { request } from 'undici';
import { listen } from '../listen.ts';
import type { Listening } from '../listen.ts';
import { limitInFlight } from './in-flight.ts';
import { problemHandler } from './problem.ts';
import { until } from '../../../core/testing/until.ts';

let server: Listening;
let begun: { readonly id: string; readonly end: () => void }[];

beforeEach(async () => {
  begun = [];
  const app = express();
  app.use(limitInFlight(1, 1));
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

test('a client that disconnects while waiting frees its place', () => {
  const limit = limitInFlight(1, 1);
  const turn: string[] = [];
  const ask = (name: string): EventEmitter => {
    const response = new EventEmitter();
    limit({} as never, response as never, () => void turn.push(name));
    return response;
  };
  const first = ask('first');
  const impatient = ask('impatient');
  expect(() => ask('refused')).toThrow('2 requests of this kind are in progress');
  impatient.emit('close');
  ask('next');
  expect(turn).toEqual(['first']);
  first.emit('close');
  expect(turn).toEqual(['first', 'next']);
});
