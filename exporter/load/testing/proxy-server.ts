import { createServer, request as send } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface ProxyServer {
  readonly port: number;
  /** What was requested: `POST http://…`, `CONNECT host:port`. */
  readonly asked: readonly string[];
  /** Values of the header Proxy-Authorization. */
  readonly authorizations: readonly (string | undefined)[];
  close(): Promise<void>;
}

/** An HTTP proxy (RFC 9110 §7.6): forwards requests with an absolute URL, and opens tunnels. `status`: refuses all. */
export async function proxyServer(status: number | null = null): Promise<ProxyServer> {
  const asked: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    asked.push(`${method} ${url}`);
    authorizations.push(headers['proxy-authorization']);
    if (status !== null) return void response.writeHead(status).end();
    const rest = { ...headers };
    delete rest['proxy-authorization'];
    const forwarded = send(url, { method, headers: rest }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.writeHead(502).end());
    request.pipe(forwarded);
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', ({ url = '', headers }, socket, head) => {
    asked.push(`CONNECT ${url}`);
    authorizations.push(headers['proxy-authorization']);
    if (status !== null) return void socket.end(`HTTP/1.1 ${status} X\r\n\r\n`);
    const { hostname, port } = new URL(`http://${url}`);
    const tunnel = connect(Number(port || 80), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      tunnel.write(head);
      tunnel.pipe(socket).pipe(tunnel);
    });
    sockets.add(tunnel);
    tunnel.on('error', () => socket.destroy());
    socket.on('error', () => tunnel.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    authorizations,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
