import type { PhaseName } from '../../core/run/record.ts';
import { arrivalsKey } from '../bench/arrivals.ts';
import type { PhaseLoad } from '../bench/benchmark-plan.ts';
import type { Dataset } from '../bench/datasets/dataset.ts';
import { planSha256 } from '../bench/datasets/plan.ts';
import { scheduledTrace, type FixedSchedule, type ScheduledTrace } from '../bench/fixed-schedule.ts';
import type { LoadPlan } from '../bench/load-plan.ts';
import { RefusedError } from './refusal.ts';
import type { LoadRequest, RunRequest } from './run-request.ts';

/** The loads of a run's phases, and the dataset that they take their requests from. */
export interface PlannedLoad {
  readonly dataset: Dataset;
  readonly warmup: PhaseLoad | null;
  readonly measure: PhaseLoad;
  /** SHA-256 (hex) of the requests and of their arrivals. */
  readonly planSha256: string;
}

/** What a person asked for, with the dataset. Throws a `RefusedError` when a fixed schedule finds nothing to follow. */
export function plannedLoad(request: RunRequest, dataset: Dataset): PlannedLoad {
  const { fixedSchedule, requestCount, durationSeconds, gracePeriodSeconds, warmup } = request;
  const trace = fixedSchedule === null ? null : followed(dataset, fixedSchedule);
  const load = loadPlan(request.load, request.seed);
  const measure: PhaseLoad = {
    load: trace === null ? load : { ...load, concurrency: request.load.concurrency, arrivals: trace.arrivals },
    requestCount: trace === null ? requestCount : Math.min(requestCount ?? Infinity, trace.arrivals.offsets_ns.length),
    durationSeconds,
    gracePeriodSeconds,
  };
  const before = warmup && { ...warmup, load: loadPlan(warmup.load, request.seed) };
  const planned = trace?.dataset ?? dataset;
  return { dataset: planned, warmup: before, measure, planSha256: planHash(planned, { measure, warmup: before }) };
}

function followed(dataset: Dataset, schedule: FixedSchedule): ScheduledTrace {
  try {
    return scheduledTrace(dataset, schedule);
  } catch (error) {
    if (error instanceof RangeError) throw new RefusedError(`--fixed-schedule: ${error.message}`);
    throw error;
  }
}

function loadPlan(request: LoadRequest, seed: number): LoadPlan {
  const {
    concurrency,
    concurrencyRampSeconds,
    prefillConcurrency,
    prefillConcurrencyRampSeconds: ramp,
    rate,
  } = request;
  return {
    concurrency: rate === null ? (concurrency ?? 1) : concurrency,
    concurrencyRampSeconds,
    prefillConcurrency,
    ...(ramp === undefined ? {} : { prefillConcurrencyRampSeconds: ramp }),
    arrivals: rate && { kind: 'rate', ...rate, seed },
  };
}

/** A closed loop has no arrivals of its own: its plan is that of the dataset. */
function planHash(dataset: Dataset, phases: Readonly<Record<PhaseName, PhaseLoad | null>>): string {
  const arrivals = (['warmup', 'measure'] as const).flatMap((phase) => {
    const key = phases[phase] && arrivalsKey(phases[phase].load);
    return key === null ? [] : Object.entries(key).map(([name, value]) => [`${phase}_${name}`, value] as const);
  });
  if (arrivals.length === 0) return dataset.planSha256;
  return planSha256({ dataset: dataset.planSha256, ...Object.fromEntries(arrivals) });
}
