import { DISTRIBUTION_MEASURES, SCALAR_MEASURES } from '../../core/measures/measures.ts';
import type { ComparisonKey } from '../../core/run/run.ts';
import type { RunRequest } from './run-request.ts';

/** What must be equal for two runs to be comparable: URL, system, versions and hardware are not in it. */
export function comparisonKey(request: RunRequest, endpointType: string, planSha256: string): ComparisonKey {
  return {
    endpoint_type: endpointType,
    model: request.model,
    load: { mode: 'concurrency', concurrency: request.concurrency, request_rate: null, arrival_pattern: null },
    stop: { request_count: request.requestCount, benchmark_duration_seconds: request.durationSeconds },
    warmup: { request_count: request.warmupRequestCount },
    dataset_plan_sha256: planSha256,
    sampling: request.sampling,
    streaming: true,
    measure_definitions: MEASURE_DEFINITIONS,
  };
}

/** A measure with two clocks has two definitions; the one from the due time is named as in the metrics. */
const MEASURE_DEFINITIONS: Readonly<Record<string, string>> = Object.fromEntries<string>([
  ...DISTRIBUTION_MEASURES.map(
    ({ measure, clock, definition }) =>
      [clock === 'due' && measure !== 'schedule_delay' ? `${measure}_from_due` : measure, definition] as const,
  ),
  ...Object.values(SCALAR_MEASURES).map(({ measure, definition }) => [measure, definition] as const),
]);
