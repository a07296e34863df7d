/** How requests of a phase come: a number kept in flight, a rate, or the times of a trace, each under limits. */
export interface LoadPlan {
  /** Without arrivals: requests kept in flight. With arrivals: most requests in flight, null without a limit. */
  readonly concurrency: number | null;
  /** The slots open one after the other over this time; 0: all at once. */
  readonly concurrencyRampSeconds: number;
  /** Most requests whose first chunk with content has not come; null without a limit. */
  readonly prefillConcurrency: number | null;
  /** That limit grows from 1 over this time; 0 or absent: it is there at once. */
  readonly prefillConcurrencyRampSeconds?: number;
  /** Null: a closed loop, a request is due when the one before it in its slot has ended. */
  readonly arrivals: RatePlan | TracePlan | null;
}

export const ARRIVAL_PATTERNS = ['poisson', 'constant', 'gamma'] as const;
export type ArrivalPattern = (typeof ARRIVAL_PATTERNS)[number];

/** Arrivals at a rate, whatever the server does. */
export interface RatePlan {
  readonly kind: 'rate';
  /** Requests per second. */
  readonly requestRate: number;
  readonly pattern: ArrivalPattern;
  /** Shape of the gamma distribution of the gaps (vLLM's burstiness): 1 is poisson, more is smoother. */
  readonly smoothness: number;
  /** The rate grows from 0 in a straight line over this time; 0: it is there at once. */
  readonly rampSeconds: number;
  /** The same seed gives the same arrivals. */
  readonly seed: number;
}

/** Arrivals at recorded times. */
export interface TracePlan {
  readonly kind: 'trace';
  /** Nanoseconds since the start of the phase, ascending. */
  readonly offsets_ns: Float64Array;
}
