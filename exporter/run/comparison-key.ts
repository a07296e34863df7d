import { DISTRIBUTION_MEASURES, SCALAR_MEASURES } from '../../core/measures/measures.ts';
import { canonicalJson } from '../../core/run/canonical-json.ts';
import type { ComparisonKey, LoadKey } from '../../core/run/run.ts';
import type { LoadPlan } from '../bench/load-plan.ts';
import type { PlannedLoad } from './planned-load.ts';
import type { RunRequest } from './run-request.ts';

/** What must be equal for two runs to be comparable: URL, system, versions and hardware are not in it. */
export function comparisonKey(
  request: RunRequest,
  endpointType: string,
  planned: PlannedLoad,
  streaming = true,
): ComparisonKey {
  const { warmup } = planned;
  return {
    endpoint_type: endpointType,
    model: request.model,
    load: loadKey(planned.measure.load),
    cancellation: request.cancellation && {
      ratio: request.cancellation.ratio,
      delay_seconds: request.cancellation.delaySeconds,
    },
    stop: { request_count: request.requestCount, benchmark_duration_seconds: request.durationSeconds },
    warmup: warmup && {
      request_count: warmup.requestCount,
      duration_seconds: warmup.durationSeconds,
      load: loadKey(warmup.load),
    },
    dataset_plan_sha256: planned.planSha256,
    sampling: flat(request.sampling),
    streaming,
    measure_definitions: MEASURE_DEFINITIONS,
  };
}

/** What has members is written as its one text. */
function flat(sampling: RunRequest['sampling']): ComparisonKey['sampling'] {
  const entries = Object.entries(sampling).map(
    ([name, value]) => [name, typeof value === 'object' && value !== null ? canonicalJson(value) : value] as const,
  );
  return Object.fromEntries(entries);
}

function loadKey(load: LoadPlan): LoadKey {
  const { concurrency, concurrencyRampSeconds, prefillConcurrency, prefillConcurrencyRampSeconds, arrivals } = load;
  const rate = arrivals?.kind === 'rate' ? arrivals : null;
  return {
    mode: arrivals === null ? 'concurrency' : arrivals.kind === 'rate' ? 'request_rate' : 'trace',
    concurrency,
    concurrency_ramp_seconds: concurrencyRampSeconds || null,
    prefill_concurrency: prefillConcurrency,
    prefill_concurrency_ramp_seconds: prefillConcurrencyRampSeconds || null,
    request_rate: rate?.requestRate ?? null,
    request_rate_ramp_seconds: rate?.rampSeconds || null,
    arrival_pattern: rate?.pattern ?? null,
    arrival_smoothness: rate?.pattern === 'gamma' ? rate.smoothness : null,
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
