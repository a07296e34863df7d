import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createNetServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { TlsFiles } from '../../http-client/tls-files.ts';
import { chat } from '../endpoints/openai.ts';
import { EXPIRED, selfSignedCertificate, VALID, type TestCertificate } from '../testing/certificate.ts';
import { GENEROUS, oneRequest, type Reported } from '../testing/one-request.ts';
import { GOOD_STREAM, scriptedServer, streamOf } from '../testing/scripted-server.ts';
import {
  openTransport,
  parseTargets,
  chooseTransport,
  RoundRobinTransport,
  type ConnectionOptions,
  readApiKey,
} from './open-transport.ts';
import { RawTransport } from './raw/raw-transport.ts';
import { UndiciTransport } from './undici-transport.ts';

const NO_TLS: TlsFiles = { caFile: null, certFile: null, keyFile: null, serverName: null, insecure: false };
const OPTIONS: Omit<ConnectionOptions, 'urls'> = {
  unixSocket: null,
  connectTimeoutSeconds: 10,
  transport: 'undici',
  tls: NO_TLS,
};
const toClose: { close(): unknown }[] = [];
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-connections-'));
});
afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function asking(url: string, options: Partial<typeof OPTIONS>): Promise<Reported> {
  const transport = await openTransport(parseTargets([url], chat), { ...OPTIONS, ...options }, []);
  toClose.push(transport);
  return oneRequest(transport);
}

async function listening(server: Server, at: { port: number } | { path: string }): Promise<number> {
  await new Promise<void>((resolve) => server.listen({ ...at, host: '127.0.0.1' }, resolve));
  toClose.push(server);
  return 'port' in at ? (server.address() as AddressInfo).port : 0;
}

describe('TLS with a real certificate', () => {
  const answering = (socket: TLSSocket): void => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(streamOf(GOOD_STREAM)));
  };

  async function serve({ cert, key }: TestCertificate, requestCert = false): Promise<string> {
    const server = createTlsServer({ cert, key, ...(requestCert ? { requestCert, ca: cert } : {}) }, answering);
    server.on('tlsClientError', () => undefined);
    return `https://localhost:${await listening(server, { port: 0 })}`;
  }

  async function file(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  }

  test('an authority that is given: trusted', async () => {
    const certificate = selfSignedCertificate(VALID);
    const caFile = await file('ca.pem', certificate.cert);
    const { closed } = await asking(await serve(certificate), { tls: { ...NO_TLS, caFile } });
    expect(closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2 });
    expect(closed.record.connect_ns).toBeGreaterThan(0);
    // Without TLS.
    expect(closed.record.tcp_connect_ns).toBeGreaterThan(0);
    expect(closed.record.tcp_connect_ns).toBeLessThan(closed.record.connect_ns ?? NaN);
  });

  test('traced: the look-up, and the handshake as a part of the connecting', async () => {
    const url = await serve(selfSignedCertificate(VALID));
    const { closed } = await asking(url, { tls: { ...NO_TLS, insecure: true }, httpTrace: true });
    const { http_dns_lookup_ns, http_connecting_ns, http_tls_handshaking_ns } = closed.record;
    expect(http_dns_lookup_ns).toBeGreaterThanOrEqual(0);
    expect(http_tls_handshaking_ns).toBeGreaterThan(0);
    expect(http_connecting_ns).toBeGreaterThan(http_tls_handshaking_ns ?? NaN);
  });

  test('--tls-insecure: whatever it is', async () => {
    const url = await serve(selfSignedCertificate(EXPIRED));
    expect((await asking(url, { tls: { ...NO_TLS, insecure: true } })).closed.record.outcome).toBe('ok');
  });

  test('an unknown authority', async () => {
    const { closed } = await asking(await serve(selfSignedCertificate(VALID)), {});
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'tls', http_status: null });
    expect(closed.message).toMatch(/self.signed certificate/i);
  });

  test('expired', async () => {
    const certificate = selfSignedCertificate(EXPIRED);
    const caFile = await file('expired.pem', certificate.cert);
    const { closed } = await asking(await serve(certificate), { tls: { ...NO_TLS, caFile } });
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'tls' });
    expect(closed.message).toContain('expired');
  });

  test('for another host; --tls-server-name says which one is meant', async () => {
    const certificate = selfSignedCertificate({ ...VALID, names: ['model.example'] });
    const caFile = await file('other.pem', certificate.cert);
    const url = await serve(certificate);
    const { closed } = await asking(url, { tls: { ...NO_TLS, caFile } });
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'tls' });
    expect(closed.message).toMatch(/altnames/);
    const named = await asking(url, { tls: { ...NO_TLS, caFile, serverName: 'model.example' } });
    expect(named.closed.record.outcome).toBe('ok');
  });

  test('a server that requires a client certificate', async () => {
    const certificate = selfSignedCertificate(VALID);
    const caFile = await file('both.pem', certificate.cert);
    const keyFile = await file('both.key', certificate.key);
    const url = await serve(certificate, true);
    const withIt = await asking(url, { tls: { ...NO_TLS, caFile, certFile: caFile, keyFile } });
    expect(withIt.closed.record.outcome).toBe('ok');
    const without = await asking(url, { tls: { ...NO_TLS, caFile } });
    expect(without.closed.record.outcome).toBe('error');
  });

  test('files that cannot be used', async () => {
    const keyFile = await file('no.pem', 'nothing');
    const open = (tls: Partial<TlsFiles>): Promise<unknown> =>
      asking('https://localhost:1', { tls: { ...NO_TLS, ...tls } });
    await expect(open({ caFile: '/nowhere/ca.pem' })).rejects.toThrow('--tls-ca /nowhere/ca.pem: ENOENT');
    await expect(open({ caFile: keyFile })).rejects.toThrow(`--tls-ca ${keyFile}: not a PEM file`);
    await expect(open({ keyFile })).rejects.toThrow('--tls-cert and --tls-key must be set together');
  });
});

test.each(['undici', 'raw'] as const)('a unix socket, over %s', async (transport) => {
  const path = join(folder, `${transport}.sock`);
  let head = '';
  const server = createNetServer((socket) => {
    socket.once('data', (bytes) => {
      head = bytes.toString();
      socket.end(streamOf(GOOD_STREAM));
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  toClose.push(server);
  const { closed } = await asking('http://localhost', { unixSocket: path, transport });
  expect(closed.record.outcome).toBe('ok');
  expect(head).toContain('POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n');
  const missing = await asking('http://localhost', { unixSocket: join(folder, 'none.sock'), transport });
  expect(missing.closed.record).toMatchObject({ outcome: 'error', reason: 'connect_refused' });
});

describe('several URLs', () => {
  test('are used round-robin, and a server that is down fails only its own requests', async () => {
    const servers = [];
    for (let i = 0; i < 3; i++) servers.push(await scriptedServer((socket) => socket.write(streamOf(GOOD_STREAM))));
    toClose.push(...servers);
    const urls = servers.map((server) => server.origin);
    const transport = await openTransport(parseTargets(urls, chat), OPTIONS, []);
    toClose.push(transport);
    for (let i = 0; i < 7; i++) await oneRequest(transport);
    expect(servers.map((server) => server.requests.length)).toEqual([3, 2, 2]);
    await servers[1]?.close();
    const reasons = [];
    for (let i = 0; i < 3; i++) reasons.push((await oneRequest(transport)).closed.record.reason);
    expect(reasons).toEqual(['connect_refused', null, null]);
  });

  test.each([
    [
      ['http://a:1', 'http://b:1/base'],
      '--url 2 has a different path than the first: every server gets the same requests',
    ],
    [['http://a:1', 'ftp://user:secret@b'], "--url 2: the URL's scheme is ftp: only http and https are supported"],
    [['ftp://b'], "--url: the URL's scheme is ftp: only http and https are supported"],
    [[], '--url is missing'],
  ])('%j', (urls, message) => {
    expect(() => parseTargets(urls, chat)).toThrow(new Error(message));
  });

  test('and a unix socket cannot be used together', async () => {
    const targets = parseTargets(['http://a:1', 'http://b:1'], chat);
    await expect(openTransport(targets, { ...OPTIONS, unixSocket: '/x' }, [])).rejects.toThrow(
      '--unix-socket requires exactly one --url',
    );
  });
});

test.each(['undici', 'raw'] as const)('a connection that fail in time: %s', async (choice) => {
  // A thread that listens and never accepts: when its backlog is full the kernel drops what else wants to connect.
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:net').createServer();
     server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
     });`,
    { eval: true },
  );
  toClose.push({ close: () => worker.terminate() });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const options = { ...OPTIONS, transport: choice, connectTimeoutSeconds: 0.5 };
  const transport = await openTransport(parseTargets([`http://127.0.0.1:${port}`], chat), options, []);
  toClose.push(transport);
  const limits = { ...GENEROUS, requestTimeoutSeconds: 3 };
  const reported = await Promise.all(Array.from({ length: 8 }, () => oneRequest(transport, limits)));
  const reasons = reported.map(({ closed }) => closed.record.reason);
  // The first few fit into the backlog and get no response; the others never get a connection.
  expect(new Set(reasons)).toEqual(new Set(['connect_timeout', 'request_timeout']));
  const late = reported.find(({ closed }) => closed.record.reason === 'connect_timeout')?.closed.record;
  expect(late).toMatchObject({ outcome: 'timeout', http_status: null, connect_ns: null });
});

describe('the API key', () => {
  test('from the environment or a file', async () => {
    const path = join(folder, 'key');
    await writeFile(path, 'sk-123\n');
    expect(await readApiKey({ environmentVariable: 'KEY', file: null }, { KEY: 'sk-1' })).toBe('sk-1');
    expect(await readApiKey({ environmentVariable: null, file: path }, {})).toBe('sk-123');
    expect(await readApiKey({ environmentVariable: null, file: null }, {})).toBeNull();
  });

  test('that cannot be read; no message contains one', async () => {
    const empty = join(folder, 'empty');
    const two = join(folder, 'two');
    await writeFile(empty, ' \n');
    await writeFile(two, 'sk-1\nsk-2');
    const read = (environmentVariable: string | null, file: string | null): Promise<unknown> =>
      readApiKey({ environmentVariable, file }, { BAD: 'sk 1' });
    await expect(read('KEY', null)).rejects.toThrow('--api-key-env: the environment variable KEY is not set');
    await expect(read('BAD', null)).rejects.toThrow(/^--api-key-env: the key contains a space/);
    await expect(read(null, '/nowhere/key')).rejects.toThrow('--api-key-file /nowhere/key: ENOENT');
    await expect(read(null, empty)).rejects.toThrow(`--api-key-file ${empty}: the file is empty`);
    await expect(read(null, two)).rejects.toThrow(/the key contains a space, a line break/);
    await expect(read('KEY', two)).rejects.toThrow('--api-key-env and --api-key-file cannot be used together');
  });
});

const PLAIN = { origin: 'http://127.0.0.1:1' };
const TLS = { origin: 'https://127.0.0.1:1' };

test.each([
  ['undici', PLAIN, UndiciTransport],
  ['undici', TLS, UndiciTransport],
  ['raw', PLAIN, RawTransport],
  ['auto', PLAIN, RawTransport],
  ['auto', TLS, UndiciTransport],
] as const)('%s for %j', (choice, options, expected) => {
  expect(chooseTransport(choice, options)).toBeInstanceOf(expected);
});

test('several servers have one kind of transport, or an unreported one', () => {
  const [raw, tls] = [chooseTransport('auto', PLAIN), chooseTransport('auto', TLS)];
  expect([raw.kind, tls.kind]).toEqual(['raw', 'undici']);
  expect(new RoundRobinTransport([raw, chooseTransport('raw', PLAIN)]).kind).toBe('raw');
  expect(new RoundRobinTransport([raw, tls]).kind).toBeNull();
});

test('raw for https is refused', () => {
  expect(() => chooseTransport('raw', TLS)).toThrow('--transport raw supports http only: use auto or undici for https');
});
