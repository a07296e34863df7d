import { expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '../../core/run/record.ts';
import { oneRequest } from './testing/one-request.ts';
import { GOOD_STREAM, streamOf } from './testing/scripted-server.ts';
import { TRANSPORTS } from './testing/transport-kinds.ts';

/** A server that can be stopped, all its connections with it, and started again at the same port. */
class Restartable {
  #server: Server | null = null;
  readonly #sockets = new Set<Socket>();
  port = 0;

  async start(): Promise<void> {
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('data', () => setTimeout(() => socket.write(streamOf(GOOD_STREAM)), 5));
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())));
  }
}

test.each(TRANSPORTS)('a server that restarts: errors only while it is gone (%s)', async (_name, open) => {
  const server = new Restartable();
  await server.start();
  const transport = open({ origin: `http://127.0.0.1:${server.port}` });
  const rounds: RequestRecord[][] = [];
  const round = async (): Promise<void> => {
    const reported = await Promise.all(Array.from({ length: 4 }, () => oneRequest(transport)));
    rounds.push(reported.map(({ closed }) => closed.record));
  };
  await round();
  const cut = round();
  await sleep(2);
  await server.stop();
  await cut;
  await round();
  await server.start();
  await round();
  await round();
  await transport.close();
  await server.stop();
  const [before = [], during = [], gone = [], back = [], after = []] = rounds;
  expect(before.map((record) => record.outcome)).toEqual(['ok', 'ok', 'ok', 'ok']);
  for (const record of during) expect([null, 'reset', 'connect_refused']).toContain(record.reason);
  expect(gone.map((record) => record.reason)).toEqual(Array.from({ length: 4 }, () => 'connect_refused'));
  expect([...back, ...after].map((record) => record.outcome)).toEqual(Array.from({ length: 8 }, () => 'ok'));
  expect(back.every((record) => record.connection_reused === false)).toBe(true);
  expect(after.every((record) => record.connection_reused === true)).toBe(true);
});
