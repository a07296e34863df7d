import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { environmentProxies } from '../../http-client/proxy.ts';
import { selfSignedCertificate, VALID } from '../testing/certificate.ts';
import { GENEROUS, oneRequest } from '../testing/one-request.ts';
import { proxyServer, type ProxyServer } from '../testing/proxy-server.ts';
import { GOOD_STREAM, scriptedServer, streamOf, type ScriptedServer } from '../testing/scripted-server.ts';
import { chooseTransport } from './open-transport.ts';
import type { Transport, TransportChoice } from './transport.ts';

const toClose: { close(): unknown }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

const kept = <T extends { close(): unknown }>(thing: T): T => {
  toClose.push(thing);
  return thing;
};

const answering = async (): Promise<ScriptedServer> =>
  kept(await scriptedServer((socket) => socket.write(streamOf(GOOD_STREAM))));

function through(port: number, origin: string, choice: TransportChoice = 'auto'): Transport {
  const address = `http://me:secret@127.0.0.1:${port}`;
  const proxy = environmentProxies({ HTTP_PROXY: address, HTTPS_PROXY: address })(origin);
  return kept(chooseTransport(choice, { origin, proxy, tls: { rejectUnauthorized: false } }));
}

describe('a proxy', () => {
  test.each(['auto', 'undici'] as const)('gets requests for http with their whole URL: %s', async (choice) => {
    const [server, proxy] = [await answering(), kept(await proxyServer())];
    const transport = through(proxy.port, server.origin, choice);
    const [first, second] = [await oneRequest(transport), await oneRequest(transport)];
    expect(first.closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2, connection_reused: false });
    expect(first.closed.record.connect_ns).toBeGreaterThan(0);
    // The handshake is with the proxy, and says nothing of the server.
    expect(first.closed.record.tcp_connect_ns).toBeNull();
    expect(second.closed.record).toMatchObject({ outcome: 'ok', output_tokens: 2, connection_reused: true });
    expect(transport.kind).toBe('undici');
    const url = `POST ${server.origin}/v1/chat/completions`;
    expect(proxy.asked).toEqual([url, url]);
    expect(proxy.authorizations[0]).toBe(`Basic ${btoa('me:secret')}`);
    expect(server.requests[0]?.head).toMatch(new RegExp(`^host: 127.0.0.1:${server.port}\\r?$`, 'im'));
    expect(server.requests[0]?.head).not.toMatch(/proxy-authorization/i);
  });

  test('opens a tunnel for https', async () => {
    const server = createServer(selfSignedCertificate(VALID), (request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(GOOD_STREAM.join(''));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    kept({ close: () => server.closeAllConnections() });
    kept({ close: () => server.close() });
    const { port } = server.address() as AddressInfo;
    const proxy = kept(await proxyServer());
    const transport = through(proxy.port, `https://localhost:${port}`);
    const [first, second] = [await oneRequest(transport), await oneRequest(transport)];
    expect(first.closed.record).toMatchObject({ outcome: 'ok', connection_reused: false });
    expect(second.closed.record).toMatchObject({ outcome: 'ok', connection_reused: true });
    expect(proxy.asked).toEqual([`CONNECT localhost:${port}`]);
  });

  test.each([
    ['http', 407, /Proxy Authentication Required \(407\)/],
    ['https', 407, /Proxy response \(407\)/],
    ['https', 403, /Proxy response \(403\)/],
  ])('that refuses requests for %s with %d', async (scheme, status, message) => {
    const proxy: ProxyServer = kept(await proxyServer(status));
    const { closed } = await oneRequest(through(proxy.port, `${scheme}://127.0.0.1:9`));
    expect(closed.record.outcome).toBe('error');
    expect(closed.record.reason).toBe('other');
    expect(closed.message).toMatch(message);
  });

  test.each(['http', 'https'])('that is not there, for %s', async (scheme) => {
    const proxy = await proxyServer();
    await proxy.close();
    const { closed } = await oneRequest(through(proxy.port, `${scheme}://127.0.0.1:9`), GENEROUS);
    expect(closed.record).toMatchObject({ outcome: 'error', reason: 'connect_refused' });
  });

  test('the raw transport refuses one', async () => {
    expect(() => through(1, 'http://h', 'raw')).toThrow(
      '--transport raw does not support a proxy, here http://127.0.0.1:1 (HTTP_PROXY): use --transport auto, or --no-proxy',
    );
  });
});
