import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

const compress = promisify(gzip);
const COMPRESSION_LEVEL = 1;
/** Shorter answers fit into one packet anyway. */
const LEAST_COMPRESSED_BYTES = 1400;

/** Answers with a value as JSON, with a tag that stands for it; 304 when the asker has it already. */
export async function sendJson(request: Request, response: Response, value: unknown): Promise<void> {
  const body = Buffer.from(JSON.stringify(value));
  // Weak: compressed and plain answers share it.
  const tag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  response.set({ ETag: tag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding, Authorization' });
  response.type('application/json');
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  if (body.length < LEAST_COMPRESSED_BYTES || request.acceptsEncodings('gzip', 'identity') !== 'gzip') {
    response.set('Content-Length', String(body.length)).end(body);
    return;
  }
  const compressed = await compress(body, { level: COMPRESSION_LEVEL });
  response.set({ 'Content-Encoding': 'gzip', 'Content-Length': String(compressed.length) }).end(compressed);
}
