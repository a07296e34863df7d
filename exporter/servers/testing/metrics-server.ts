import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface MetricsServer {
  readonly origin: string;
  readonly port: number;
  /** Requested paths, in order. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A server for one test; port 0 is any free one. */
export async function metricsServer(
  answer: (request: IncomingMessage, response: ServerResponse, position: number) => void,
  port = 0,
): Promise<MetricsServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response, asked.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${address.port}`,
    port: address.port,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Responds with a page of the text format. */
export function page(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' });
  response.end(text);
}
