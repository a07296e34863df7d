import { expect, test } from '@jest/globals';
import { request } from 'undici';
import { listen, ListenError } from './listen.ts';

test('port 0 takes a free one and says which; after close nobody answers', async () => {
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

test('a port in use: one line that names it and what to do', async () => {
  const first = await listen(() => {}, { host: '127.0.0.1', port: 0 });
  const second = listen(() => {}, { host: '127.0.0.1', port: first.port });
  await expect(second).rejects.toThrow(ListenError);
  await expect(second).rejects.toThrow(
    `127.0.0.1:${first.port} is in use: stop the program that listens there or choose another port (0 takes a free one)`,
  );
  await first.close();
});

test('an address of another machine', async () => {
  // TEST-NET-1 (RFC 5737) is on no machine.
  await expect(listen(() => {}, { host: '192.0.2.1', port: 0 })).rejects.toThrow(
    'cannot listen on 192.0.2.1:0: 192.0.2.1 is not an address of this machine',
  );
});
