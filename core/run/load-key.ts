import type { LoadKey } from './run.ts';

/** The load of a plain closed loop; null: the concurrency is not known. */
export function closedLoopKey(concurrency: number | null): LoadKey {
  return {
    mode: 'concurrency',
    concurrency,
    concurrency_ramp_seconds: null,
    prefill_concurrency: null,
    prefill_concurrency_ramp_seconds: null,
    request_rate: null,
    request_rate_ramp_seconds: null,
    arrival_pattern: null,
    arrival_smoothness: null,
  };
}
