import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { selfSignedCertificate, VALID } from '../../load/testing/certificate.ts';
import { readReceiver, type ReceiverRequest } from './receiver.ts';
import { RemoteWriteClient } from './remote-write-client.ts';

let folder: string;
const cleanUp: (() => unknown)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-receiver-request-'));
});
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
  await rm(folder, { recursive: true });
});

const NONE = { environmentVariable: null, file: null };
const NO_TLS = { caFile: null, certFile: null, keyFile: null, serverName: null, insecure: false };
const request = (changes: Partial<ReceiverRequest> = {}): ReceiverRequest => ({
  url: 'http://receiver:9090/api/v1/write',
  protocol: 'auto',
  username: null,
  password: NONE,
  bearer: NONE,
  headers: {},
  headerVariables: {},
  tls: NO_TLS,
  ...changes,
});

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

describe('credentials', () => {
  test('basic: the password from a file; the example of RFC 7617', async () => {
    const password = { environmentVariable: null, file: await file('password', 'open sesame\n') };
    const receiver = await readReceiver(request({ username: 'Aladdin', password }), {});
    expect(receiver.headers).toEqual({ authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' });
    // A receiver may repeat either form.
    expect(receiver.secrets).toEqual(['open sesame', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==']);
  });

  test('basic: from the URL, which is then removed from it', async () => {
    const receiver = await readReceiver(request({ url: 'https://Aladdin:open%20sesame@host/write?tenant=a#x' }), {});
    expect(receiver.headers).toEqual({ authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' });
    expect(receiver.url).toBe('https://host/write?tenant=a');
  });

  test('bearer token and headers from the environment', async () => {
    const receiver = await readReceiver(
      request({
        bearer: { environmentVariable: 'TOKEN', file: null },
        headers: { 'x-scope-orgid': 'team' },
        headerVariables: { 'x-key': 'KEY' },
      }),
      { TOKEN: 'geheim42', KEY: 'geheim43' },
    );
    expect(receiver.headers).toEqual({
      authorization: 'Bearer geheim42',
      'x-scope-orgid': 'team',
      'x-key': 'geheim43',
    });
    expect(receiver.secrets).toEqual(expect.arrayContaining(['geheim42', 'geheim43']));
  });

  test.each<[string, Partial<ReceiverRequest>, RegExp]>([
    ['a URL of another scheme', { url: 'ftp://geheim@host/' }, /^--remote-write-url must be an http or https address/],
    ['no URL', { url: 'host:9090 geheim' }, /^--remote-write-url must be/],
    ['a variable that is not set', { bearer: { environmentVariable: 'NOPE', file: null } }, /variable NOPE is not set/],
    ['a missing file', { bearer: { environmentVariable: null, file: '/nowhere/x' } }, /\/nowhere\/x: ENOENT/],
    ['a value with a line break', { bearer: { environmentVariable: 'BROKEN', file: null } }, /not allowed in a header/],
    ['two sources', { bearer: { environmentVariable: 'A', file: 'b' } }, /cannot be used together/],
    ['two ways', { username: 'u', bearer: { environmentVariable: 'TOKEN', file: null } }, /cannot be used together/],
    ['a password alone', { password: { environmentVariable: 'TOKEN', file: null } }, /needs --remote-write-username/],
    ['half a certificate', { tls: { ...NO_TLS, certFile: 'x' } }, /must be set together/],
    ['no PEM', { tls: { ...NO_TLS, caFile: '/proc/self/status' } }, /not a PEM file/],
  ])('%s is rejected in a line without secrets', async (_name, changes, message) => {
    const environment = { TOKEN: 'geheim42', BROKEN: 'geheim\n42' };
    const error = await readReceiver(request(changes), environment).catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringMatching(message) });
    expect((error as Error).message).not.toContain('geheim');
  });
});

describe('TLS', () => {
  const own = selfSignedCertificate(VALID);

  async function secureServer(options: ServerOptions = {}): Promise<string> {
    const server = createServer({ ...own, ...options }, (_request, response) => {
      response.writeHead(204, { 'x-prometheus-remote-write-samples-written': '0' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}/write`;
  }

  async function send(url: string, tls: Partial<ReceiverRequest['tls']>): Promise<string> {
    const receiver = await readReceiver(request({ url, tls: { ...NO_TLS, ...tls } }), {});
    const client = new RemoteWriteClient(receiver, '0');
    const outcome = await client.send(new Uint8Array(), '2');
    client.close();
    return outcome.kind;
  }

  test('requires a trusted certificate for the right name', async () => {
    const caFile = await file('ca.pem', own.cert);
    const url = await secureServer();
    expect(await send(url, {})).toBe('retry');
    expect(await send(url, { caFile })).toBe('retry');
    expect(await send(url, { caFile, serverName: 'localhost' })).toBe('written');
    expect(await send(url, { insecure: true })).toBe('written');
  });

  test('sends its client certificate if requested', async () => {
    const mine = selfSignedCertificate(VALID);
    const files = {
      certFile: await file('cert.pem', mine.cert),
      keyFile: await file('key.pem', mine.key),
    };
    const url = await secureServer({ requestCert: true, rejectUnauthorized: true, ca: mine.cert });
    expect(await send(url, { insecure: true })).toBe('retry');
    expect(await send(url, { insecure: true, ...files })).toBe('written');
  });
});
