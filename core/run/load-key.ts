import type { LoadKey } from './run.ts';
import { stageText } from './stage-text.ts';

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

/** The load by its mode and the number that describes it: `concurrency 64`, `request_rate 2.5`, `trace`, `stages rate=5:60s,rate=10:60s`. */
export function loadName({ mode, concurrency, request_rate, stages = [] }: LoadKey): string {
  if (mode === 'stages') return `stages ${stages.map(stageText).join(',')}`;
  const amount = mode === 'concurrency' ? concurrency : mode === 'request_rate' ? request_rate : null;
  return amount === null ? mode : `${mode} ${amount}`;
}
