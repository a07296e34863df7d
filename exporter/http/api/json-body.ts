import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { WrongParameter } from '../../../core/api/service.ts';
import { Problem, wrongParameters } from '../problem.ts';

/** A thousand run ids and a reason are shorter. */
const MAX_BYTES = 128 * 1024;

/** Unknown members that a response names. */
const MAX_UNKNOWN = 20;
const MAX_SHOWN = 100;

/** Reads the body of a request as JSON. */
export const jsonBody: RequestHandler = express.json({ limit: MAX_BYTES, strict: true });

/** A member of a body. */
export interface Member<T> {
  /** The values, or a rule in words. */
  readonly allowed: readonly string[];
  /** Null: the value is not allowed. */
  readonly parse: (value: unknown) => T | null;
  /** The value of a member that is not given; absent: it is required. */
  readonly fallback?: T;
}

type Members = Readonly<Record<string, Member<unknown>>>;
type ValuesOf<M extends Members> = { readonly [K in keyof M]: M[K] extends Member<infer T> ? T : never };

/** The members of a JSON object. Throws a `Problem` that lists every one that is wrong. */
export function readBody<M extends Members>(request: Request, members: M): ValuesOf<M> {
  const body: unknown = request.body;
  if (request.is('application/json') === false) throw new Problem(415, 'the body must be of type application/json');
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem(400, 'the body must be a JSON object');
  }
  const given = body as Readonly<Record<string, unknown>>;
  const known = Object.keys(members);
  const unknown = Object.keys(given)
    .filter((name) => !known.includes(name))
    .slice(0, MAX_UNKNOWN);
  const wrong: WrongParameter[] = unknown.map((name) => ({ name, value: shown(given[name]), allowed: known }));
  const values = Object.entries(members).map(([name, { allowed, parse, fallback }]) => {
    const isGiven = given[name] !== undefined;
    const value = isGiven ? parse(given[name]) : (fallback ?? null);
    if (value === null) wrong.push({ name, value: isGiven ? shown(given[name]) : null, allowed });
    return [name, value];
  });
  if (wrong.length > 0) throw wrongParameters(wrong, new Set(unknown));
  return Object.fromEntries(values) as ValuesOf<M>;
}

/** A text that is not blank. */
export const textUpTo = (longest: number): Member<string> => ({
  allowed: [`a text of 1 to ${longest} characters`],
  parse: (value) => (typeof value === 'string' && value.trim() !== '' && value.length <= longest ? value.trim() : null),
});

/** A value of the client in a message, cut short. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, MAX_SHOWN);
  try {
    return JSON.stringify(value).slice(0, MAX_SHOWN);
  } catch {
    return 'a value nested too deeply';
  }
}

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
