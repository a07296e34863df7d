import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addRun } from '../exporter/store/changes/add-run.ts';
import { addedRun } from '../exporter/store/fixtures/added-run.ts';
import { openStore } from '../exporter/store/run-store.ts';
import { start, type Started } from './llmbench.ts';

const TOKEN = 'a-token-of-some-length';
const PLANTED = 'planted-scenario';

let folder: string;
let runsDir: string;
const started: Started[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-access-'));
  runsDir = join(folder, 'runs');
  await addRun((await openStore(runsDir)).store, addedRun('r1', { scenario: PLANTED }));
  await writeFile(join(folder, 'token'), TOKEN, { mode: 0o600 });
});

afterAll(async () => {
  for (const { child, ended } of started) {
    child.kill('SIGTERM');
    await ended;
  }
  await rm(folder, { recursive: true });
});

/** The port on which a command reports to listen. */
async function portOf(...argv: readonly string[]): Promise<number> {
  const process = start(argv);
  started.push(process);
  let output = '';
  for (const stream of [process.child.stdout, process.child.stderr])
    stream?.on('data', (text: string) => (output += text));
  await process.said('http://127.0.0.1:');
  return Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]);
}

/** The response to a request target that no client library changes. */
async function rawGet(port: number, target: string, header = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n${header}\r\n`);
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: unknown) => (text += String(piece)));
  await once(socket, 'close');
  return text;
}

async function isRefused(port: number, host: string): Promise<boolean> {
  const socket = connect(port, host);
  const connected = new Promise<boolean>((resolve) => socket.once('connect', () => resolve(false)));
  const refused = once(socket, 'error').then(([error]) => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED');
  const result = await Promise.race([connected, refused]);
  socket.destroy();
  return result;
}

describe('a serve that always requires the token', () => {
  let port: number;
  beforeAll(async () => {
    const argv = [
      '--port',
      '0',
      '--runs-dir',
      runsDir,
      '--api-token-file',
      join(folder, 'token'),
      '--api-token-always',
    ];
    port = await portOf('serve', ...argv);
  });

  test.each([
    ...['/api/v1/runs', '/api/v1/runs/', '//api/v1/runs', '/api//v1/runs', '/./api/v1/runs', '/api/v1/../v1/runs'],
    ...['/API/V1/RUNS', '/api/v1/%72uns', '/%61pi/v1/runs', '/api%2fv1%2fruns', '/api/v1/runs?x', '/api/v1/runs;x'],
    ...['/x/../api/v1/runs', '/api/v1/runs/r1', '/API/v1/Runs/r1', '/api/v1/runs/%721', '/runs/r1', '/RUNS/r1'],
    ...['//runs/r1', '/runs/%721', '/runs//r1', '/runs/./r1', '/runs/r1/', '/api/v1/scenarios', '/api/v1/annotations'],
    ...[
      '/',
      '//',
      '/?',
      '/./',
      '/%2e/',
      '/api/v1/compare?a=r1&b=r1',
      '/api/v1/values/scenarios',
      '/runs/r1/report.html',
    ],
  ])('%s shows nothing of the runs without it', async (target) => {
    const response = await rawGet(port, target);
    expect(response).toMatch(/^HTTP\/1\.1 (200|30[18]|400|401|404) /);
    expect(response).not.toContain(PLANTED);
  });

  test('with it they are read', async () => {
    const header = `authorization: Bearer ${TOKEN}\r\n`;
    expect(await rawGet(port, '/api/v1/runs', header)).toContain(PLANTED);
    expect(await rawGet(port, '/', header)).toContain(PLANTED);
  });

  test('/metrics and /sd are read by Prometheus, which has no token', async () => {
    expect(await rawGet(port, '/metrics')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await rawGet(port, '/sd')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

const others = Object.values(networkInterfaces())
  .flat()
  .flatMap((each) => (each === undefined || each.internal || each.family !== 'IPv4' ? [] : [each.address]));

describe('without an address, a command listens on the loopback address only', () => {
  test.each([
    ['serve', ['serve', '--port', '0']],
    ['simulate', ['simulate', '--port', '0']],
  ])('%s', async (name, argv) => {
    const port = await portOf(...argv, ...(name === 'serve' ? ['--runs-dir', runsDir] : []));
    expect(await isRefused(port, '127.0.0.1')).toBe(false);
    // Linux answers on every 127.x.y.z what listens on all addresses.
    for (const host of [...(process.platform === 'linux' ? ['127.0.0.2'] : []), ...others]) {
      expect([host, await isRefused(port, host)]).toEqual([host, true]);
    }
  });

  test('the live page of run', async () => {
    const model = await portOf('simulate', '--port', '0');
    const load = ['--model', 'sim-model', '--request-count', '2000', '--isl', '8', '--osl', '8', '--runs-dir', runsDir];
    const run = start(['run', '--url', `http://127.0.0.1:${model}`, ...load, '--metrics-port', '0']);
    started.push(run);
    let output = '';
    run.child.stderr?.on('data', (text: string) => (output += text));
    await run.said('/metrics');
    const port = Number(/http:\/\/[^/\s]*:(\d+)\/metrics/.exec(output)?.[1]);
    expect(await isRefused(port, '127.0.0.1')).toBe(false);
    for (const host of [...(process.platform === 'linux' ? ['127.0.0.2'] : []), ...others]) {
      expect([host, await isRefused(port, host)]).toEqual([host, true]);
    }
  });
});
