import type { ChildProcess } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The port that a server was given. */
export function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A limit against hanging, not a measure of speed: a busy machine may take its time. */
const TIMEOUT_MS = 120_000;

/** Waits until it holds; a condition that fails does not hold yet. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await condition().catch(() => false))) {
    if (Date.now() > deadline) {
      throw new Error(`not ready after ${TIMEOUT_MS} ms`);
    }
    await sleep(100);
  }
}

/** Ends a process that was started here. */
export function end(process: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    process.once('exit', () => resolve());
    if (!process.kill('SIGTERM')) {
      resolve();
    }
  });
}
