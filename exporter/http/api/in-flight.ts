import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '../problem.ts';

const RETRY_AFTER_SECONDS = 1;

export interface InFlightLimits {
  /** Responses that are processed at a time; one client gets all but one of these places. */
  readonly maxInFlight: number;
  /** Further ones that wait in order; those beyond get 503. */
  readonly maxWaiting: number;
  /** A client that receives its response more slowly, in bytes per second, is disconnected. */
  readonly minBytesPerSecond?: number;
  /** The time over which that is measured, in milliseconds. */
  readonly window_ms?: number;
}

interface Waiting {
  readonly peer: string;
  /** Whether the connection was ended, of which its response may not know yet. */
  readonly isGone: () => boolean;
  readonly begin: () => void;
}

/**
 * Limits responses that need much memory. A client that disconnects frees its place, and one that does not read its
 * response loses it.
 */
export function limitInFlight({
  maxInFlight,
  maxWaiting,
  minBytesPerSecond = 16 * 1024,
  window_ms = 5000,
}: InFlightLimits): RequestHandler {
  const inFlight = new Map<string, number>();
  let total = 0;
  const waiting: Waiting[] = [];
  const maxOfPeer = Math.max(1, maxInFlight - 1);
  const hasPlace = (peer: string): boolean => total < maxInFlight && (inFlight.get(peer) ?? 0) < maxOfPeer;
  const count = (peer: string, change: 1 | -1): void => {
    total += change;
    const now = (inFlight.get(peer) ?? 0) + change;
    if (now === 0) inFlight.delete(peer);
    else inFlight.set(peer, now);
  };
  const beginNext = (): void => {
    const following = waiting.findIndex((each) => !each.isGone() && hasPlace(each.peer));
    if (following >= 0) waiting.splice(following, 1)[0]?.begin();
  };
  return (request, response, next) => {
    const peer = peerOf(request);
    if (!hasPlace(peer) && waiting.length >= maxWaiting) {
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      throw new Problem(503, `${maxInFlight + maxWaiting} requests of this kind are in progress; try again`, {
        headers,
      });
    }
    let stopWatching: (() => void) | null = null;
    const own: Waiting = {
      peer,
      isGone: () => request.socket.destroyed,
      begin() {
        count(peer, 1);
        stopWatching = disconnectSlowReader(response, (minBytesPerSecond * window_ms) / 1000, window_ms);
        next();
      },
    };
    response.once('close', () => {
      if (stopWatching === null) {
        const place = waiting.indexOf(own);
        if (place >= 0) waiting.splice(place, 1);
      } else {
        stopWatching();
        count(peer, -1);
        // Later: clients often disconnect together, and nothing is processed for one that is about to be seen gone.
        setImmediate(beginNext);
      }
    });
    if (hasPlace(peer)) own.begin();
    else waiting.push(own);
  };
}

const peerOf = (request: Request): string => request.socket.remoteAddress ?? 'unknown';

/** Ends the connection if less than `minBytes` of the response leave this process per window. Returns how to stop. */
function disconnectSlowReader(response: Response, minBytes: number, window_ms: number): () => void {
  let sent: number | null = null;
  const timer = setInterval(() => {
    // Until the response begins, the client waits for this process.
    if (!response.headersSent) return;
    const now = response.socket?.bytesWritten ?? 0;
    if (sent !== null && now - sent < minBytes) response.destroy();
    sent = now;
  }, window_ms);
  timer.unref();
  return () => clearInterval(timer);
}
