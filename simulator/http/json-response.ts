import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Sends a complete JSON response. */
export function sendJson(response: ServerResponse, status: number, json: string): void {
  const body = Buffer.from(json);
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', body.length);
  response.end(body);
}

/** Sends JSON in pieces, no faster than the client reads. A client that goes away in the middle ends it. */
export async function sendTruth(response: ServerResponse, json: Iterable<string>): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  await pipeline(Readable.from(json), response);
}
