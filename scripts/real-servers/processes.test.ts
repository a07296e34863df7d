import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { responses, execute, freePort, Processes } from './processes.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'processes-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('processes of a server', () => {
  test('a process that ends before it is ready: its name, its exit code and the end of its log', async () => {
    const processes = new Processes(folder);
    processes.start('worker', 'sh', ['-c', 'echo cannot bind >&2; exit 3']);
    await expect(processes.ready(() => Promise.resolve(false), 30)).rejects.toThrow(
      `worker ended with code 3, log in ${folder}/worker.log:\ncannot bind`,
    );
  });

  test('a program that does not exist', async () => {
    const processes = new Processes(folder);
    processes.start('worker', join(folder, 'missing'), []);
    await expect(processes.ready(() => Promise.resolve(false), 30)).rejects.toThrow('ENOENT');
  });

  test('a server that is never ready is stopped', async () => {
    const processes = new Processes(folder);
    processes.start('worker', 'sh', ['-c', 'echo $$; exec sleep 60']);
    await expect(processes.ready(() => Promise.resolve(false), 1)).rejects.toThrow('not ready after 1 s');
    expect(isAlive(Number(readFileSync(join(folder, 'worker.log'), 'utf8')))).toBe(false);
  });

  test('stop ends the children of a process, and is no failure', async () => {
    const processes = new Processes(folder);
    let failure: string | null = null;
    void processes.ended.then((reason) => (failure = reason));
    processes.start('parent', 'sh', ['-c', 'sleep 60 & echo $!; wait']);
    const log = (): string => readFileSync(join(folder, 'parent.log'), 'utf8');
    await processes.ready(() => Promise.resolve(log().endsWith('\n')), 30);
    const child = Number(log());
    expect(isAlive(child)).toBe(true);
    await processes.stop();
    // The orphan is gone as soon as its new parent has noticed.
    for (let i = 0; i < 100 && isAlive(child); i++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isAlive(child)).toBe(false);
    expect(failure).toBeNull();
  });
});

test('a failing program: its name and what it wrote', async () => {
  await expect(execute('sh', ['-c', 'echo no such wheel >&2; exit 1'])).rejects.toThrow('sh: no such wheel');
});

test('a port that is taken is not free', async () => {
  const server = createServer((_request, response) => response.end('{"id":"tiny"}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await expect(freePort(port)).rejects.toThrow('EADDRINUSE');
  await expect(responses(`http://127.0.0.1:${port}/`, '"id"')).resolves.toBe(true);
  await expect(responses(`http://127.0.0.1:${port}/`, 'other')).resolves.toBe(false);
  server.close();
});
