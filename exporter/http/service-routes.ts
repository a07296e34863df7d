import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { RequestHandler } from 'express';
import { Problem } from './problem.ts';
import type { MetricsPage, PagePieces } from '../publish/metrics-page.ts';

/**
 * Accepts GET and HEAD without a body, before anything of a body is read; other requests get 405 or 400 and their connection
 * is closed. Browsers do not guess the type of any response.
 */
export const readingOnly: RequestHandler = (request, response, next) => {
  response.set('X-Content-Type-Options', 'nosniff');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const headers = { Allow: 'GET, HEAD', Connection: 'close' };
    throw new Problem(405, `${request.method} is not allowed here`, { headers });
  }
  if (announcesBody(request)) {
    throw new Problem(400, 'a request to read has no body', { headers: { Connection: 'close' } });
  }
  next();
};

function announcesBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** `GET /-/healthy`: 200 while the process responds. */
export const healthyRoute: RequestHandler = (_request, response) => {
  response.type('text/plain').send('llmbench is healthy.\n');
};

/**
 * `GET /-/ready`: 200 if scrapes are served at once and show the runs, 503 with `whyNot`. `notes` are lines about what does
 * not affect readiness: unreadable runs.
 */
export function readyRoute(whyNot: () => string | null, notes: () => readonly string[] = () => []): RequestHandler {
  return (_request, response) => {
    response.type('text/plain');
    const reason = whyNot();
    if (reason === null) response.send(['llmbench is ready.', ...notes(), ''].join('\n'));
    else response.status(503).send(`${reason}\n`);
  };
}

/** 404 for every unknown path, with a reference to the landing page. */
export const notFound: RequestHandler = () => {
  throw new Problem(404, 'Not found. See / for the available pages.');
};

interface MetricsRouteOptions {
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

/** Repetitive text shrinks to a tenth at the fastest level, and the core may be shared with the measurement. */
const COMPRESSION_LEVEL = 1;
/** Pieces are a few lines each: one by one, each would cost as much as many of them. */
const BLOCK_BYTES = 64 * 1024;

const bytesOf = (pieces: PagePieces): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** The bytes of the parts in blocks, so that a page of many runs never exists as a whole. */
function inBlocks(...parts: readonly PagePieces[]): Readable {
  return Readable.from(blocks(parts), { objectMode: false });
}

/** Rejects when zlib does. */
async function gzipped(pieces: PagePieces): Promise<Buffer> {
  const gzip = createGzip({ level: COMPRESSION_LEVEL });
  const [whole] = await Promise.all([buffer(gzip), pipeline(inBlocks(pieces), gzip)]);
  return whole;
}

function* blocks(parts: readonly PagePieces[]): Generator<Buffer> {
  let group: Buffer[] = [];
  let length = 0;
  for (const pieces of parts) {
    for (const piece of pieces) {
      if (length + piece.length > BLOCK_BYTES && length > 0) {
        yield joined(group);
        group = [];
        length = 0;
      }
      group.push(piece);
      length += piece.length;
    }
  }
  if (length > 0) yield joined(group);
}

/** A piece that is as large as a block is not copied. */
function joined(group: readonly Buffer[]): Buffer {
  const [first] = group;
  return group.length === 1 && first !== undefined ? first : Buffer.concat(group);
}
