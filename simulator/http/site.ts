import type { ServerResponse } from 'node:http';

import { ApiError } from './api-error.ts';
import { sendJson } from './json-response.ts';
import { RouteServer } from './route-server.ts';
import type { RouteHandler } from './route-server.ts';
import type { Listening } from '../faults/restarting-server.ts';

/** The port of a metrics page that is not on that of the API. It is kept, so that the next start takes the same. */
export interface PagePort {
  port: number;
  /** Whether another port will do when this one is in use. */
  isPreferred: boolean;
}

/** The port that a system uses by default for a page, or, unless `isWanted`, a free one. */
export function pagePort(defaultPort: number, isWanted = false): PagePort {
  return isWanted ? { port: defaultPort, isPreferred: true } : { port: 0, isPreferred: false };
}

/** Starts to serve a page at its port. Throws the error of node:net if that is not possible. */
export async function listenAt(server: Listening, address: PagePort, host: string): Promise<void> {
  try {
    address.port = await server.listen(address.port, host);
  } catch (error) {
    if (!address.isPreferred || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    address.port = await server.listen(0, host);
  }
  address.isPreferred = false;
}

/** Sends a metrics page. */
export function sendPage(response: ServerResponse, contentType: string, page: string): void {
  const body = Buffer.from(page);
  response.writeHead(200, { 'content-type': contentType, 'content-length': body.length });
  response.end(body);
}

/** A server with nothing but `/metrics`, and `/health` where the real one has it. */
export function metricsServer(contentType: string, page: () => string): RouteServer {
  return new RouteServer({
    routes: new Map<string, RouteHandler>([
      ['GET /metrics', (_request, response) => sendPage(response, contentType, page())],
      ['GET /health', (_request, response) => sendJson(response, 200, '{"status":"ready"}')],
    ]),
    notFound: (_request, response) => void response.writeHead(404, { 'content-length': 0 }).end(),
    failed: (error, response) => {
      const message = error instanceof Error ? error.message : String(error);
      sendJson(response, 500, new ApiError(500, 'InternalServerError', message).body());
    },
  });
}

/** A server on a port of its own beside the main one. */
export interface SidePage {
  readonly server: Listening;
  readonly address: PagePort;
}

/** Several servers that begin and end together: one with the API, the others with metrics pages. */
export class Site implements Listening {
  readonly #main: Listening;
  readonly #side: readonly SidePage[];
  readonly #closed: () => void;

  /** @param closed called after the servers have ended */
  constructor(main: Listening, side: readonly SidePage[], closed: () => void) {
    this.#main = main;
    this.#side = side;
    this.#closed = closed;
  }

  /** @returns the port of the main server */
  async listen(port: number, host: string): Promise<number> {
    const own = await this.#main.listen(port, host);
    for (const { server, address } of this.#side) await listenAt(server, address, host);
    return own;
  }

  async close(): Promise<void> {
    await Promise.all([this.#main, ...this.#side.map(({ server }) => server)].map((server) => server.close()));
    this.#closed();
  }
}
