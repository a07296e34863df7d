import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

const compress = promisify(gzip);
const COMPRESSION_LEVEL = 1;
const BLOCK_BYTES = 64 * 1024;
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
    await sendBody(response, body);
    return;
  }
  response.set('Content-Encoding', 'gzip');
  await sendBody(response, await compress(body, { level: COMPRESSION_LEVEL }));
}

/** In blocks, so that how much of it the client has received can be seen. */
async function sendBody(response: Response, body: Buffer): Promise<void> {
  response.set('Content-Length', String(body.length));
  if (body.length <= BLOCK_BYTES) {
    response.end(body);
    return;
  }
  // A client that leaves early is no failure.
  await pipeline(Readable.from(blocksOf(body), { objectMode: false }), response).catch(() => response.destroy());
}

function* blocksOf(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += BLOCK_BYTES) yield body.subarray(start, start + BLOCK_BYTES);
}
