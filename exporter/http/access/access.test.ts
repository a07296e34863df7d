import express from 'express';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request } from 'undici';
import { listen } from '../listen.ts';
import type { Listening } from '../listen.ts';
import { problemHandler } from '../problem.ts';
import { isLoopback } from '../allowed-host.ts';
import { mayRead, requireRole, tokenAccess } from './access.ts';

const TOKEN = 'a-token-of-some-length';

let server: Listening;
beforeAll(async () => {
  const app = express();
  // A non-loopback address is not guaranteed here, so the socket reports a false one.
  app.use((incoming, _response, next) => {
    Object.defineProperty(incoming, 'socket', { value: { remoteAddress: incoming.get('x-from') } });
    next();
  });
  app.use(requireRole(tokenAccess({ token: TOKEN }), 'read'));
  app.get('/', (_request, response) => void response.send('read'));
  app.use(problemHandler(() => undefined));
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

test.each([
  ['127.0.0.1', null, 200],
  ['::1', null, 200],
  ['::ffff:127.0.0.1', null, 200],
  ['192.168.0.7', null, 401],
  ['::ffff:192.168.0.7', null, 401],
  ['192.168.0.7', `Bearer ${TOKEN}`, 200],
  ['192.168.0.7', `bearer  ${TOKEN}`, 200],
  ['192.168.0.7', `Bearer ${TOKEN}x`, 401],
  ['192.168.0.7', `Bearer ${TOKEN.slice(1)}`, 401],
  ['192.168.0.7', `Basic ${TOKEN}`, 401],
  ['192.168.0.7', 'Bearer ', 401],
])('from %s with %p: %d', async (from, authorization, expected) => {
  const headers = { 'x-from': from, ...(authorization === null ? {} : { authorization }) };
  const { statusCode, headers: answered, body } = await request(server.url, { headers });
  const text = await body.text();
  expect([statusCode, answered['www-authenticate']]).toEqual([expected, expected === 401 ? 'Bearer' : undefined]);
  expect(text).not.toContain(TOKEN);
});

const ALWAYS = { always: true, trustProxy: false };
const PROXY = { always: false, trustProxy: true };

test.each([
  ['any client on this machine', ALWAYS, '127.0.0.1', undefined, false],
  ['a client of a proxy on this machine', PROXY, '127.0.0.1', '192.168.0.7', false],
  ['a client that forges an earlier address', PROXY, '127.0.0.1', '127.0.0.1, 192.168.0.7', false],
  ['a client whose address cannot be read', PROXY, '127.0.0.1', 'unknown', false],
  ['a client of the proxy that is on this machine', PROXY, '::1', '192.168.0.7, 127.0.0.1', true],
  ['a client that the proxy does not name', PROXY, '127.0.0.1', undefined, false],
  ['a client that connects from elsewhere', PROXY, '192.168.0.7', '127.0.0.1', false],
  ['a forwarded address that is not trusted', undefined, '127.0.0.1', '192.168.0.7', true],
])('%s may read without a token: %#', (_name, rule, remoteAddress, forwarded, expected) => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const incoming = Object.create(express.request, {
    headers: { value: headers },
    socket: { value: { remoteAddress } },
  }) as express.Request;
  expect(mayRead(tokenAccess({ token: TOKEN, ...(rule && { rule }) }), incoming)).toBe(expected);
});

test.each([
  ['127.255.0.1', true],
  ['128.0.0.1', false],
  ['::2', false],
  ['::ffff:7f00:1', true],
  ['', false],
  ['nonsense', false],
])('%s is loopback: %p', (address, expected) => expect(isLoopback(address)).toBe(expected));
