import type { RequestHandler } from 'express';
import { Problem } from './problem.ts';

const RETRY_AFTER_SECONDS = 1;

/**
 * For answers that need much memory: `most` are worked on at a time, as many as `mostWaiting` come after them in their
 * order, and the others are answered 503. Who goes away gives up the place.
 */
export function limitInFlight(most: number, mostWaiting: number): RequestHandler {
  let inFlight = 0;
  const waiting: (() => void)[] = [];
  return (_request, response, next) => {
    if (inFlight >= most && waiting.length >= mostWaiting) {
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      throw new Problem(503, `${most + mostWaiting} requests of this kind are under way; try again`, { headers });
    }
    let begun = false;
    const begin = (): void => {
      begun = true;
      inFlight += 1;
      next();
    };
    response.once('close', () => {
      if (!begun) waiting.splice(waiting.indexOf(begin), 1);
      else {
        inFlight -= 1;
        waiting.shift()?.();
      }
    });
    if (inFlight < most) begin();
    else waiting.push(begin);
  };
}
