import type { ServerResponse } from 'node:http';

import { ApiError } from './api-error.ts';
import { sendJson } from './json-response.ts';
import { RouteServer } from './route-server.ts';
import type { RouteHandler } from './route-server.ts';

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
