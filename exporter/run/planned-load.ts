import { arrivalsKey } from '../load/schedule/arrivals.ts';
import type { Dataset } from '../load/datasets/dataset.ts';
import { planSha256 } from '../load/datasets/plan.ts';
import type { PhaseLoad, TracePlan } from '../load/schedule/load-plan.ts';
import { scheduledPart } from '../load/schedule/scheduled-part.ts';
import { RefusedError } from './refusal.ts';
import type { RunRequest } from './run-request.ts';

/** The loads of a run's phases, and the dataset of their requests. */
export interface PlannedLoad {
  readonly dataset: Dataset;
  readonly warmup: PhaseLoad | null;
  readonly measure: PhaseLoad;
  /** SHA-256 (hex) of the requests and of their arrivals. */
  readonly planSha256: string;
}

/** The requested load on a dataset. Throws a `RefusedError` when a trace has no timestamps. */
export function plannedLoad({ measure, warmup }: RunRequest, dataset: Dataset): PlannedLoad {
  const { arrivals } = measure.load;
  if (arrivals?.kind !== 'trace') return { dataset, warmup, measure, planSha256: planHash(dataset, warmup, measure) };
  const part = partOf(dataset, arrivals);
  const requestCount = Math.min(measure.requestCount ?? Infinity, part.due_ns.length);
  return {
    dataset: part,
    warmup,
    measure: { ...measure, requestCount },
    planSha256: planHash(part, warmup, measure),
  };
}

function partOf(dataset: Dataset, trace: TracePlan): ReturnType<typeof scheduledPart> {
  try {
    return scheduledPart(dataset, trace);
  } catch (error) {
    if (error instanceof RangeError) throw new RefusedError(`--fixed-schedule: ${error.message}`);
    throw error;
  }
}

/** A closed load has no arrival times: its plan is that of the dataset. */
function planHash(dataset: Dataset, warmup: PhaseLoad | null, measure: PhaseLoad): string {
  const arrivals = Object.entries({ warmup, measure }).flatMap(([phase, planned]) => {
    if (planned === null || planned.load.arrivals === null) return [];
    const key = arrivalsKey(planned.load.arrivals, dataset);
    return Object.entries(key).map(([name, value]) => [`${phase}_${name}`, value] as const);
  });
  if (arrivals.length === 0) return dataset.planSha256;
  return planSha256({ dataset: dataset.planSha256, ...Object.fromEntries(arrivals) });
}
