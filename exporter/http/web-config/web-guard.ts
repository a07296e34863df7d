import { createHash, randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { compare } from 'bcryptjs';
import type { Request, RequestHandler, Response } from 'express';
import { noteSignedIn } from '../access/access.ts';
import type { RateLimit, WebConfig } from './web-config.ts';

/** A hash of no known password, after its cost. */
const NO_USER_HASH = 'CwTycUXWue0Thq9StjUM0uJ8.LqRcBSnfW8mVx2yTQ9eN1m6V0o3K';
const MAX_REMEMBERED = 1000;
const MAX_WAITING = 20;

/** What is to be said of a request's credentials: the user if they are accepted; `busy`: too many are being checked. */
export type SignIn = { readonly user: string } | 'refused' | 'busy';

/**
 * Checks passwords against bcrypt hashes. Correct ones are remembered, because a hash takes tens of milliseconds; wrong ones
 * are not, and are computed one after the other so that guessing does not occupy the process.
 */
export class BasicAuth {
  /** A key of this process only, so that remembered passwords cannot be looked up elsewhere. */
  readonly #salt = randomBytes(32);
  readonly #remembered = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `authorization` is the value of the header. */
  async check(authorization: string | undefined, users: ReadonlyMap<string, string>): Promise<SignIn> {
    const credentials = basicCredentials(authorization);
    if (credentials === null) return 'refused';
    const { name, password } = credentials;
    const hash = users.get(name);
    const key = createHash('sha256')
      .update(this.#salt)
      .update(JSON.stringify([name, hash, password]))
      .digest('base64');
    if (hash !== undefined && this.#remembered.has(key)) return { user: name };
    if (this.#waiting >= MAX_WAITING) return 'busy';
    if (!(await this.#compared(password, hash ?? hashOfNoUser(users))) || hash === undefined) return 'refused';
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.add(key);
    return { user: name };
  }

  async #compared(password: string, hash: string): Promise<boolean> {
    this.#waiting += 1;
    const compared = this.#queue.then(() => compare(password, hash));
    // The next one waits for its end only; who asked gets the error below.
    this.#queue = compared.catch(() => undefined);
    try {
      return await compared;
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** With the highest cost of the users, so that unknown users take as long to refuse as known ones. */
export function hashOfNoUser(users: ReadonlyMap<string, string>): string {
  const costs = [...users.values()].map((hash) => Number(/^\$2[abxy]?\$(\d\d)\$/.exec(hash)?.[1] ?? 0));
  return `$2b$${String(Math.max(4, ...costs)).padStart(2, '0')}$${NO_USER_HASH}`;
}

/** User and password of `Authorization: Basic …` (RFC 7617); null for anything else. */
export function basicCredentials(authorization: string | undefined): { name: string; password: string } | null {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Counts requests against a rate limit; full at the first request. */
export class TokenBucket {
  #tokens = Infinity;
  #at_ms = 0;

  /** Whether a request at this time is within the limit. */
  take({ interval_ms, burst }: RateLimit, now_ms: number): boolean {
    this.#tokens = Math.min(burst, this.#tokens + (now_ms - this.#at_ms) / interval_ms);
    this.#at_ms = now_ms;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/**
 * Applies a web configuration before any route: headers, rate limit (429), user and password (401). `needsNoUser` exempts
 * requests, such as those with the API's token, since one header cannot carry both.
 */
export function webGuard(current: () => WebConfig, needsNoUser: (request: Request) => boolean): RequestHandler {
  const auth = new BasicAuth();
  const bucket = new TokenBucket();
  return async (request, response, next) => {
    const { headers, users, rateLimit } = current();
    response.set(headers);
    if (rateLimit !== null && !bucket.take(rateLimit, performance.now())) {
      response.set('Retry-After', String(Math.ceil(rateLimit.interval_ms / 1000)));
      refuse(response, 429, 'Too many requests.');
    } else if (users.size === 0 || needsNoUser(request)) {
      next();
    } else {
      const signIn = await auth.check(request.get('authorization'), users);
      if (typeof signIn === 'object') {
        noteSignedIn(request, signIn.user);
        next();
      } else if (signIn === 'busy') {
        response.set('Retry-After', '1');
        refuse(response, 503, 'Too many passwords are being checked.');
      } else {
        response.set('WWW-Authenticate', 'Basic');
        refuse(response, 401, 'User and password are required.');
      }
    }
  };
}

function refuse(response: Response, status: number, line: string): void {
  response.status(status).set('Connection', 'close').type('text/plain').send(`${line}\n`);
}
