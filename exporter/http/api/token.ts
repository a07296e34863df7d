import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIPv4 } from 'node:net';
import type { Request, RequestHandler } from 'express';
import { Problem } from './problem.ts';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether the client is allowed to do what it requests. */
export type ClientCheck = (request: Request) => boolean;

/**
 * The token, as `Authorization: Bearer <token>`, is required from clients that do not connect over the loopback
 * address; null: not required.
 */
export function readCheck(token: string | null): ClientCheck {
  if (token === null) return () => true;
  const hasToken = tokenCheck(token);
  return (request) => isLoopback(request.socket.remoteAddress) || hasToken(request);
}

function tokenCheck(token: string): ClientCheck {
  const expected = digest(token);
  return (request) => {
    const [, given] = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

/** Responds with 401 to unauthorized clients. */
export function requireToken(token: string | null): RequestHandler {
  return required(readCheck(token));
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

/** Whether an address, as reported by a socket, belongs to this machine. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return LOOPBACK.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
}

/** A hash of fixed length, as required by the constant-time comparison. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
