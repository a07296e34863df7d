import { performance } from 'node:perf_hooks';
import type { Request, RequestHandler, Response } from 'express';
import { noteSignedIn } from '../access/access.ts';
import { BasicAuth } from './basic-auth.ts';
import { TokenBucket } from './token-bucket.ts';
import type { WebConfig } from './web-config.ts';

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
