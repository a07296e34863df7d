/** How the requests of a phase arrive: the one description from the command line to the thread that sends them. */
export type LoadPlan = ClosedLoad | OpenLoad;

interface LoadLimits {
  /** The slots open one after the other over this time; 0: all at once. */
  readonly concurrencyRampSeconds: number;
  /** Maximum number of requests before their first chunk with content; null: no limit. */
  readonly prefillConcurrency: number | null;
  /** That limit grows from 1 over this time; 0: it applies in full from the start. */
  readonly prefillConcurrencyRampSeconds: number;
}

/** A request is due when the previous one in its slot has ended. */
export interface ClosedLoad extends LoadLimits {
  /** Requests kept in flight. */
  readonly concurrency: number;
  readonly arrivals: null;
}

/** Requests have their own due times, regardless of the server. */
export interface OpenLoad extends LoadLimits {
  /** Maximum number of requests in flight; null: no limit. */
  readonly concurrency: number | null;
  readonly arrivals: RatePlan | TracePlan;
}

export const ARRIVAL_PATTERNS = ['poisson', 'constant', 'gamma'] as const;
export type ArrivalPattern = (typeof ARRIVAL_PATTERNS)[number];

/** Arrivals at a rate. */
export interface RatePlan {
  readonly kind: 'rate';
  /** Requests per second. */
  readonly requestRate: number;
  readonly pattern: ArrivalPattern;
  /** Shape of the gamma distribution of the gaps (vLLM's burstiness): 1 is Poisson, more is smoother. */
  readonly smoothness: number;
  /** The rate grows linearly from 0 over this time; 0: it applies in full from the start. */
  readonly rampSeconds: number;
  /** The same seed gives the same arrivals. */
  readonly seed: number;
}

/** Arrivals at the times of the dataset. Times are milliseconds, as in AIPerf's flags. */
export interface TracePlan {
  readonly kind: 'trace';
  /** The first request of the trace is due immediately, regardless of its time. */
  readonly autoOffset: boolean;
  /** The schedule starts here; earlier requests are skipped. */
  readonly startOffset_ms: number | null;
  /** Later requests are skipped. */
  readonly endOffset_ms: number | null;
  /** The times are divided by it: 2 replays a trace twice as fast; absent: 1. */
  readonly speedup?: number;
}

/** One phase: its load, and its limits, of which the first one reached ends it; at least one is set. */
export interface PhaseLoad {
  readonly load: LoadPlan;
  readonly requestCount: number | null;
  readonly durationSeconds: number | null;
  /** How long requests in flight may take after the duration. */
  readonly gracePeriodSeconds: number;
}

/** The lowest limit of requests in flight, in prefill or not; infinite without one. */
export function slotsOf({ concurrency, prefillConcurrency }: LoadPlan): number {
  return Math.min(concurrency ?? Infinity, prefillConcurrency ?? Infinity);
}

/** The most requests that these loads have in flight; null: one of them has no limit. */
export function mostInFlight(loads: readonly LoadPlan[]): number | null {
  const most = Math.max(...loads.map(({ concurrency }) => concurrency ?? Infinity));
  return most === Infinity ? null : most;
}

/** Whether a due request may have to wait until another has ended or has left prefill. */
export function mayWait({ concurrency, prefillConcurrency, arrivals }: LoadPlan): boolean {
  return prefillConcurrency !== null || (arrivals !== null && concurrency !== null);
}

/** Maximum number of requests of an open load that are kept ready. */
const MOST_AHEAD = 1024;

/** Number of requests to write ahead: one for each slot of a closed load, or those of one second. */
export function requestsAhead({ arrivals, concurrency }: LoadPlan): number {
  if (arrivals === null) return concurrency;
  return arrivals.kind === 'rate' ? Math.min(Math.ceil(arrivals.requestRate), MOST_AHEAD) : 64;
}
