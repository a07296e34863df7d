import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { listen } from './listen.ts';
import type { Listening } from './listen.ts';
import { problemHandler } from './problem.ts';
import { notFound, readingOnly } from './service-routes.ts';

let server: Listening;
beforeAll(async () => {
  const app = express();
  app.use(readingOnly);
  app.get('/', (_request, response) => void response.send('read'));
  app.use(notFound);
  app.use(problemHandler(() => undefined, 'text'));
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

/** The whole response to bytes on a connection that the server closes. */
async function responseTo(head: string, body = ''): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  socket.write(`${head}\r\nHost: localhost\r\nConnection: close\r\n\r\n${body}`);
  await once(socket, 'close');
  return text;
}

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])(
  '%s is 405 on any path, with Allow',
  async (method) => {
    for (const path of ['/', '/nothing']) {
      const response = await responseTo(`${method} ${path} HTTP/1.1`);
      expect(response).toMatch(/^HTTP\/1\.1 405 /);
      expect(response).toMatch(/^Allow: GET, HEAD\r$/m);
      expect(response).toMatch(/^Connection: close\r$/m);
    }
  },
);

test.each([
  ['a length', 'Content-Length: 5', 'hello'],
  ['a huge length of which nothing is sent', 'Content-Length: 100000000000', ''],
  ['chunks', 'Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
])('GET with a body is 400: %s', async (_name, header, body) => {
  expect(await responseTo(`GET / HTTP/1.1\r\n${header}`, body)).toMatch(/^HTTP\/1\.1 400 /);
});

test('GET, HEAD and an empty body are read', async () => {
  expect(await responseTo('GET / HTTP/1.1')).toMatch(/^HTTP\/1\.1 200 [\s\S]*nosniff[\s\S]*read$/);
  expect(await responseTo('HEAD / HTTP/1.1')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await responseTo('GET / HTTP/1.1\r\nContent-Length: 0')).toMatch(/^HTTP\/1\.1 200 /);
});
