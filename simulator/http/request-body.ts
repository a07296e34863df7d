import type { IncomingMessage } from 'node:http';

import { ApiError } from './api-error.ts';

/** Enough for every prompt that fits a model. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Reads a body to its end as UTF-8.
 *
 * @throws ApiError 413 when it is longer than `limit` bytes
 * @throws Error when the client goes away before the end
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length;
    // The rest is still read, so that the client gets the response and the connection stays usable.
    if (length <= limit) pieces.push(piece);
  }
  if (length > limit) throw new ApiError(413, 'RequestTooLarge', `The body is longer than ${limit} bytes.`);
  return Buffer.concat(pieces).toString('utf8');
}
