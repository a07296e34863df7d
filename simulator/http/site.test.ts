import { expect, test } from '@jest/globals';
import { metricsServer, listenAt, pagePort } from './site.ts';

const HOST = '127.0.0.1';
const page = () => metricsServer('text/plain', () => 'up 1\n');

test('the default port is taken if it is free; then it is kept', async () => {
  const [first, second] = [page(), page()];
  const free = await first.listen(0, HOST);
  await first.close();
  const address = pagePort(free, true);
  await listenAt(second, address, HOST);
  expect(address.port).toBe(free);
  await second.close();
  const occupant = page();
  await occupant.listen(free, HOST);
  await expect(listenAt(page(), address, HOST)).rejects.toThrow('EADDRINUSE');
  await occupant.close();
});

test('another one is taken if the default port is in use, and it serves', async () => {
  const [occupant, server] = [page(), page()];
  const taken = await occupant.listen(0, HOST);
  const address = pagePort(taken, true);
  await listenAt(server, address, HOST);
  expect(address.port).not.toBe(taken);
  expect(await (await fetch(`http://${HOST}:${address.port}/metrics`)).text()).toBe('up 1\n');
  await Promise.all([occupant.close(), server.close()]);
});

test('a free port, unless the default one is wanted', () => {
  expect(pagePort(8002)).toEqual({ port: 0, isPreferred: false });
});
