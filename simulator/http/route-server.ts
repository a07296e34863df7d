import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from './node-http.ts';

/** Longer than clients keep an idle connection, so that none meets a closed one. */
const KEEP_ALIVE_MILLISECONDS = 75_000;
/** A benchmark opens all its connections at once. */
const LISTEN_BACKLOG = 4096;

export type RouteHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
) => void | Promise<void>;

/**
 * Starts the response to a body, when its client is still there.
 *
 * @param ended to be called when the response is complete, or the client has gone before
 * @throws ApiError when the request is refused
 */
export type StartResponse = (body: string, response: ServerResponse, ended: () => void) => void;

interface RouteServerOptions {
  /** By method and path, as in `GET /metrics`. */
  readonly routes: ReadonlyMap<string, RouteHandler>;
  /** Takes every other request. */
  readonly notFound: RouteHandler;
  /** Answers when a handler threw before it sent anything. */
  readonly failed: (error: unknown, response: ServerResponse) => void;
}

/** An HTTP server of fixed routes. */
export class RouteServer {
  readonly #options: RouteServerOptions;
  readonly #http: Server;

  constructor(options: RouteServerOptions) {
    this.#options = options;
    this.#http = createServer({ keepAliveTimeout: KEEP_ALIVE_MILLISECONDS }, (request, response) => {
      void this.#answer(request, response);
    });
  }

  /**
   * Starts to serve.
   *
   * @param port 0: a free one
   * @returns the port
   */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen({ port, host, backlog: LISTEN_BACKLOG }, () => {
        this.#http.off('error', reject);
        resolve();
      });
    });
    const address = this.#http.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    this.#http.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query] = (request.url ?? '').split('?', 2);
    const handler = this.#options.routes.get(`${request.method} ${path}`) ?? this.#options.notFound;
    try {
      await handler(request, response, new URLSearchParams(query));
    } catch (error) {
      // A client that went away needs no response.
      if (!response.destroyed && !response.headersSent) this.#options.failed(error, response);
    }
  }
}
