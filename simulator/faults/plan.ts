import type { Window } from '../engine/window.ts';

/** Refuses requests with this status, in this time. */
export interface Refusal extends Window {
  readonly status: 429 | 503;
  /** Share of the requests that are refused. */
  readonly rate: number;
  /** Value of the `Retry-After` header. */
  readonly retryAfterSeconds: number;
}

/** Does something to a share of the streams, at one of their tokens. */
export interface StreamFault {
  readonly rate: number;
  /** Tokens that are sent as they should be before it. */
  readonly afterTokens: number;
}

/** What goes wrong in a simulated system. Times count from the start of each server. */
export interface FaultPlan {
  /** Every response is 503 until this many seconds have passed. */
  readonly slowStart: { readonly seconds: number } | null;
  /** The engine stands still. */
  readonly stall: Window | null;
  /** The connection of a stream is reset in the middle. */
  readonly reset: StreamFault | null;
  /** One event of a stream is cut short, so that its JSON cannot be read. */
  readonly malformed: StreamFault | null;
  readonly refusals: readonly Refusal[];
  /** The server ends for the time of the window, and begins anew with all its counters at 0. */
  readonly restart: (Window & { readonly worker: number }) | null;
  /** Every step of the engine takes this many times as long. */
  readonly slowdown: { readonly factor: number } | null;
  /** The KV cache has this share of its blocks, so that requests are preempted. */
  readonly kvPressure: { readonly ratio: number } | null;
  /** Loading from the tiers below the device takes this many times as long. */
  readonly slowKvTier: { readonly factor: number } | null;
  /** The router sends this share of the requests to one worker. */
  readonly hotWorker: { readonly worker: number; readonly share: number } | null;
}

export const NO_FAULTS: FaultPlan = {
  slowStart: null,
  stall: null,
  reset: null,
  malformed: null,
  refusals: [],
  restart: null,
  slowdown: null,
  kvPressure: null,
  slowKvTier: null,
  hotWorker: null,
};

/**
 * Checks that the workers that a plan names are there.
 *
 * @param workers how many the system has; 1: there is no router before them
 * @throws RangeError saying which fault is wrong
 */
export function checkWorkers({ restart, hotWorker }: FaultPlan, workers: number): void {
  if (hotWorker !== null && workers === 1) throw new RangeError('hot-worker: there is only one worker');
  for (const [name, fault] of [
    ['restart', restart],
    ['hot-worker', hotWorker],
  ] as const) {
    if (fault !== null && fault.worker >= workers) {
      throw new RangeError(`${name}: there is no worker ${fault.worker}, the last one is ${workers - 1}`);
    }
  }
}
