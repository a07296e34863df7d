import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { isLoopback } from '../loopback.ts';
import { isSignedIn } from '../signed-in.ts';
import { Problem } from './problem.ts';

/** Whether the client is allowed to do what it requests. */
export type ClientCheck = (request: Request) => boolean;

/** Which clients on the loopback address must present the token too. */
export interface TokenRule {
  /** All of them. */
  readonly always: boolean;
  /** Those for which a reverse proxy on this machine names another client in the last `X-Forwarded-For`. */
  readonly trustProxy: boolean;
}

const EXEMPT_LOOPBACK: TokenRule = { always: false, trustProxy: false };

/**
 * The token, as `Authorization: Bearer <token>`, is required from clients that the rule does not exempt and that have not
 * signed in with user and password; null: not required.
 */
export function readCheck(token: string | null, rule: TokenRule = EXEMPT_LOOPBACK): ClientCheck {
  if (token === null) return () => true;
  const hasToken = tokenCheck(token);
  return (request) => isExempt(request, rule) || isSignedIn(request) || hasToken(request);
}

/** Whether a request carries the token. */
export function tokenCheck(token: string): ClientCheck {
  const expected = digest(token);
  return (request) => {
    const [, given] = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

function isExempt(request: Request, { always, trustProxy }: TokenRule): boolean {
  if (always || !isLoopback(request.socket.remoteAddress)) return false;
  const forwarded = trustProxy ? request.get('x-forwarded-for') : undefined;
  // Entries before the last come from the client and prove nothing.
  return forwarded === undefined || isLoopback(forwarded.split(',').at(-1)?.trim());
}

/** Responds with 401 to unauthorized clients. */
export function requireToken(token: string | null, rule?: TokenRule): RequestHandler {
  return required(readCheck(token, rule));
}

/**
 * For requests that change something: the token is required from every client, also over the loopback address, so that no
 * program or page on this machine changes anything by accident. Null: changes are not allowed, 403.
 */
export function requireWriteToken(token: string | null): RequestHandler {
  if (token !== null) return required(tokenCheck(token));
  return () => {
    throw new Problem(403, 'changes over HTTP are not allowed; `llmbench serve --allow-baseline-changes` allows them');
  };
}

function required(isAllowed: ClientCheck): RequestHandler {
  return (request, _response, next) => {
    if (isAllowed(request)) next();
    else {
      const headers = { 'WWW-Authenticate': 'Bearer' };
      throw new Problem(401, 'a token is required: Authorization: Bearer …', { headers });
    }
  };
}

/** A hash of fixed length, as required by the constant-time comparison. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
