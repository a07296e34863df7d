import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

const compress = promisify(gzip);
const COMPRESSION_LEVEL = 1;
/** Shorter responses fit into one packet. */
const MIN_COMPRESSED_BYTES = 1400;

/** Sends a value of a response type as JSON with an `ETag`; 304 if the client already has it. */
export async function sendJson<T>(request: Request, response: Response, value: NoInfer<T>): Promise<void> {
  const body = Buffer.from(JSON.stringify(value));
  // Weak: compressed and plain responses share it.
  const tag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  response.set({ ETag: tag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding, Authorization' });
  response.type('application/json');
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  if (body.length < MIN_COMPRESSED_BYTES || request.acceptsEncodings('gzip', 'identity') !== 'gzip') {
    response.set('Content-Length', String(body.length)).end(body);
    return;
  }
  const compressed = await compress(body, { level: COMPRESSION_LEVEL });
  response.set({ 'Content-Encoding': 'gzip', 'Content-Length': String(compressed.length) }).end(compressed);
}
