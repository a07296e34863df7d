import type { RequestHandler } from 'express';
import { Problem } from './problem.ts';

const RETRY_AFTER_SECONDS = 1;

/**
 * Limits responses that need much memory: `most` are processed at a time, up to `mostWaiting` wait in order, further
 * ones get 503. A client that disconnects frees its place.
 */
export function limitInFlight(most: number, mostWaiting: number): RequestHandler {
  let inFlight = 0;
  const waiting: (() => void)[] = [];
  return (_request, response, next) => {
    if (inFlight >= most && waiting.length >= mostWaiting) {
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      throw new Problem(503, `${most + mostWaiting} requests of this kind are in progress; try again`, { headers });
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
