import type { BenchmarkPlan } from '../load/benchmark-plan.ts';
import type { RequestForm } from '../load/requests/request-feed.ts';
import { WHOLE } from '../load/workers/share.ts';
import type { PlannedLoad } from './planned-load.ts';
import type { RunRequest } from './run-request.ts';

export interface BenchmarkInputs {
  readonly form: RequestForm;
  readonly planned: PlannedLoad;
  readonly secrets: readonly string[];
  readonly measureStart_ns: number | null;
}

/** Everything that determines what a run sends, identical in every worker that is given the same request. */
export function plannedBenchmark(
  request: RunRequest,
  { form, planned, secrets, measureStart_ns }: BenchmarkInputs,
): BenchmarkPlan {
  return {
    form,
    warmup: planned.warmup,
    measure: planned.measure,
    shard: request.shard?.share ?? WHOLE,
    measureStart_ns,
    cancellation: request.cancellation && { ...request.cancellation, seed: request.seed },
    maxOutputTokensTotal: request.maxOutputTokensTotal,
    errorLimit: request.errorLimit,
    failedRequestThreshold: request.failedRequestThreshold,
    secrets,
    requestTimeoutSeconds: request.requestTimeoutSeconds,
    firstTokenTimeoutSeconds: request.firstTokenTimeoutSeconds,
    idleTimeoutSeconds: request.idleTimeoutSeconds,
  };
}
