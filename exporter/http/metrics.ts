import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler } from 'express';
import type { MetricsPage } from '../publish/metrics-page.ts';

const compress = promisify(gzip);
/** Repetitive text shrinks to a tenth at the fastest level, and the core may be the one that measures. */
const COMPRESSION_LEVEL = 1;

/**
 * `GET /metrics`: the page in the format that `Accept` asks for, compressed only when gzip is asked for. `scraped` is told
 * the address of who has been answered.
 */
export function metricsRoute(page: MetricsPage, scraped: (remoteAddress: string) => void = () => {}): RequestHandler {
  const compressed = compressOnce();
  return async (request, response) => {
    const remoteAddress = request.socket.remoteAddress ?? 'unknown';
    const { contentType, body } = await page.render(request.get('accept'));
    response.set({ 'Content-Type': contentType, 'Cache-Control': 'no-store', Vary: 'Accept, Accept-Encoding' });
    if (request.method === 'GET') response.once('finish', () => scraped(remoteAddress));
    if (request.acceptsEncodings('gzip', 'identity') !== 'gzip') {
      response.end(body);
      return;
    }
    response.set('Content-Encoding', 'gzip');
    response.end(await compressed(body));
  };
}

/** Compresses what it is given; a page that is kept as bytes only once. */
function compressOnce(): (body: string | Buffer) => Promise<Buffer> {
  const kept = new WeakMap<Buffer, Promise<Buffer>>();
  return (body) => {
    if (typeof body === 'string') return compress(body, { level: COMPRESSION_LEVEL });
    const made = kept.get(body) ?? compress(body, { level: COMPRESSION_LEVEL });
    kept.set(body, made);
    return made;
  };
}
