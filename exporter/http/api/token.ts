import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIPv4 } from 'node:net';
import type { Request, RequestHandler } from 'express';
import { Problem } from './problem.ts';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Tells whether somebody may read. */
export type ReadCheck = (request: Request) => boolean;

/** The token, as `Authorization: Bearer <token>`, of everybody who does not come over the loopback address; null: of nobody. */
export function readCheck(token: string | null): ReadCheck {
  if (token === null) return () => true;
  const expected = digest(token);
  return (request) => {
    const [, given] = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
    return (
      isLoopback(request.socket.remoteAddress) || (given !== undefined && timingSafeEqual(digest(given), expected))
    );
  };
}

/** Answers 401 to who may not read. */
export function requireToken(token: string | null): RequestHandler {
  const mayRead = readCheck(token);
  return (request, _response, next) => {
    if (mayRead(request)) next();
    else {
      const headers = { 'WWW-Authenticate': 'Bearer' };
      throw new Problem(401, 'a token is needed: Authorization: Bearer …', { headers });
    }
  };
}

/** Whether an address, as a socket gives it, is this machine's own. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return LOOPBACK.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
}

/** Of equal length whatever the token's, as the comparison in constant time asks. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
