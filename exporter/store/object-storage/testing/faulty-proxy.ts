import { createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** `cut`: the connection breaks before the server has the request; `lose`: after it, without a response. */
export type Fault = 'pass' | 'cut' | 'lose' | { readonly delayMs: number };

export interface FaultyProxy {
  readonly url: string;
  /** Method and path of each request that reached the server. */
  readonly passed: string[];
  /** What happens to the next requests. */
  fault: (method: string, path: string) => Fault;
  close(): void;
}

/** In front of a server. Host names are left as they are, so that signatures stay valid. */
export async function startProxy(target: string): Promise<FaultyProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url: path = '', headers } = request;
      const fault = proxy.fault(method, path.split('?')[0] ?? '');
      if (fault === 'cut') return request.socket.destroy();
      if (typeof fault === 'object') await pause(fault.delayMs);
      proxy.passed.push(`${method} ${path.split('?')[0]}`);
      const outgoing = send({ hostname, port, method, path, headers });
      request.pipe(outgoing);
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      if (fault === 'lose') return request.socket.destroy();
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      return answer.pipe(response);
    })().catch(() => request.socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed: [],
    fault: () => 'pass',
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}
