import { pipeline } from 'node:stream/promises';
import type { RequestHandler } from 'express';
import type { MetricsPage, PagePieces } from '../publish/metrics-page.ts';
import { bytesOf, gzipped, inBlocks } from './page-body.ts';

export interface MetricsRouteOptions {
  /** Receives the address of each successful scraper. */
  readonly scraped?: (remoteAddress: string) => void;
  /** Whether a page for this address is compressed if gzip is requested; absent: for each. */
  readonly compresses?: (remoteAddress: string) => boolean;
}

/** `GET /metrics`: the page in the format negotiated by `Accept`, compressed if gzip is requested. */
export function metricsRoute(
  page: MetricsPage,
  { scraped = () => {}, compresses = () => true }: MetricsRouteOptions = {},
): RequestHandler {
  const compressed = compressOnce();
  return async (request, response) => {
    const remoteAddress = request.socket.remoteAddress ?? 'unknown';
    const { contentType, body, before = '' } = await page.render(request.get('accept'));
    response.set({ 'Content-Type': contentType, 'Cache-Control': 'no-store', Vary: 'Accept, Accept-Encoding' });
    if (request.method === 'GET') response.once('finish', () => scraped(remoteAddress));
    const first = before === '' ? [] : [Buffer.from(before)];
    const kept = typeof body === 'string' ? [Buffer.from(body)] : body;
    let parts = [first, kept];
    if (compresses(remoteAddress) && request.acceptsEncodings('gzip', 'identity') === 'gzip') {
      response.set('Content-Encoding', 'gzip');
      // Compressed parts in a row are one file (RFC 1952 §2.2): what is kept is not compressed again.
      parts = [before === '' ? [] : [await gzipped(first)], [await compressed(kept)]];
    }
    response.set('Content-Length', String(parts.reduce((sum, pieces) => sum + bytesOf(pieces), 0)));
    if (request.method === 'HEAD') response.end();
    // A scraper that leaves early is no failure.
    else await pipeline(inBlocks(...parts), response).catch(() => response.destroy());
  };
}

/** Compresses the page; one that is kept, the same array, only once. */
function compressOnce(): (pieces: PagePieces) => Promise<Buffer> {
  const kept = new WeakMap<PagePieces, Promise<Buffer>>();
  return (pieces) => {
    const made = kept.get(pieces) ?? gzipped(pieces);
    kept.set(pieces, made);
    return made;
  };
}
