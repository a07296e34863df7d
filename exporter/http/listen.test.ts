import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { listen, ListenError } from './listen.ts';

test('port 0 selects a free port and reports it; after close nothing listens', async () => {
  const server = await listen((_request, response) => response.end('here'), { host: '127.0.0.1', port: 0 });
  expect(server.port).toBeGreaterThan(0);
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
  expect(await (await request(server.url)).body.text()).toBe('here');
  await server.close();
  await expect(request(server.url)).rejects.toThrow(/ECONNREFUSED/);
});

test('close ends a connection that is still being answered', async () => {
  const server = await listen((_request, response) => response.write('begun'), { host: '127.0.0.1', port: 0 });
  const { body } = await request(server.url);
  await server.close();
  await expect(body.text()).rejects.toThrow();
});

test('close with a grace period: the response is completed, idle and new connections are not kept', async () => {
  let respond = (): void => {};
  const asked = new Promise<void>((resolve) => {
    respond = resolve;
  });
  let finish = (): void => {};
  const app: RequestListener = (_request, response) => {
    response.write('begun ');
    finish = () => void response.end('ended');
    respond();
  };
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  const { body } = await request(server.url);
  await asked;
  const closed = server.close(60_000);
  await expect(request(server.url, { reset: true })).rejects.toThrow(/ECONNREFUSED/);
  finish();
  expect(await body.text()).toBe('begun ended');
  await closed;
});

test('close ends a response that takes longer than the grace period', async () => {
  const server = await listen((_request, response) => response.write('begun'), { host: '127.0.0.1', port: 0 });
  const { body } = await request(server.url);
  await server.close(10);
  await expect(body.text()).rejects.toThrow();
});

describe('a client that is too slow', () => {
  const limits = { headers_ms: 50, request_ms: 100, idle_ms: 150 };

  /** The response to these bytes until the connection is closed. */
  async function answerTo(bytes: string, app: RequestListener = () => {}): Promise<string> {
    const server = await listen(app, { host: '127.0.0.1', port: 0 }, limits);
    const socket = connect(server.port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.write(bytes);
    await once(socket, 'close');
    await server.close();
    return answer;
  }

  test('with the headers: 408, then the connection is closed', async () => {
    expect(await answerTo('GET / HTTP/1.1\r\nHost: a\r\nX: ')).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('with the body: the same', async () => {
    expect(await answerTo('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx')).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('without sending anything: the connection is closed', async () => {
    const begin: RequestListener = (_request, response) => void response.write('begun');
    expect(await answerTo('GET / HTTP/1.1\r\nHost: a\r\n\r\n', begin)).toContain('begun');
  });

  test('headers beyond 16 KB: 431', async () => {
    expect(await answerTo(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  });
});

test('a port in use: one line with the port and the remedy', async () => {
  const first = await listen(() => {}, { host: '127.0.0.1', port: 0 });
  const second = listen(() => {}, { host: '127.0.0.1', port: first.port });
  await expect(second).rejects.toThrow(ListenError);
  await expect(second).rejects.toThrow(
    `127.0.0.1:${first.port} is in use: stop the program that listens there or choose another port (0 selects a free one)`,
  );
  await first.close();
});

test('an address of another machine', async () => {
  // TEST-NET-1 (RFC 5737) is not assigned to any machine.
  await expect(listen(() => {}, { host: '192.0.2.1', port: 0 })).rejects.toThrow(
    'cannot listen on 192.0.2.1:0: 192.0.2.1 is not an address of this machine',
  );
});
