import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler } from 'express';
import type { MetricsPage } from '../publish/metrics-page.ts';

const compress = promisify(gzip);
/** Repetitive text shrinks to a tenth at the fastest level, and the core may be shared with the measurement. */
const COMPRESSION_LEVEL = 1;

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
    if (!compresses(remoteAddress) || request.acceptsEncodings('gzip', 'identity') !== 'gzip') {
      response.end(before === '' ? body : Buffer.concat([Buffer.from(before), Buffer.from(body)]));
      return;
    }
    response.set('Content-Encoding', 'gzip');
    const kept = await compressed(body);
    // Compressed parts in a row are one file (RFC 1952 §2.2): what is kept is not compressed again.
    response.end(before === '' ? kept : Buffer.concat([await compress(before, { level: COMPRESSION_LEVEL }), kept]));
  };
}

/** Compresses the page; a page that is kept as bytes is compressed only once. */
function compressOnce(): (body: string | Buffer) => Promise<Buffer> {
  const kept = new WeakMap<Buffer, Promise<Buffer>>();
  return (body) => {
    if (typeof body === 'string') return compress(body, { level: COMPRESSION_LEVEL });
    const made = kept.get(body) ?? compress(body, { level: COMPRESSION_LEVEL });
    kept.set(body, made);
    return made;
  };
}
