import { arrivalsKey } from '../load/schedule/arrivals.ts';
import type { Dataset } from '../load/datasets/dataset.ts';
import { planSha256 } from '../load/datasets/plan.ts';
import type { PhaseLoad, TracePlan } from '../load/schedule/load-plan.ts';
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

/** The requested load on a dataset. Throws a `RefusedError` when it cannot be sent. */
export function plannedLoad({ measure, warmup }: RunRequest, dataset: Dataset): PlannedLoad {
  if (measure.coolDown === true && dataset.conversation !== undefined)
    throw new RefusedError(
      '--cool-down cannot be used with conversations: their users pause between turns, so the load is not constant',
    );
  const { arrivals } = measure.load;
  if (arrivals?.kind !== 'trace') return { dataset, warmup, measure, planSha256: planHash(dataset, warmup, measure) };
  const part = scheduledPart(dataset, arrivals);
  const requestCount = Math.min(measure.requestCount ?? Infinity, part.due_ns.length);
  return {
    dataset: part,
    warmup,
    measure: { ...measure, requestCount },
    planSha256: planHash(part, warmup, measure),
  };
}

/**
 * The part of a dataset with timestamps that a trace sends: the measure phase begins with the first request of the
 * part, and its times are relative to the start of the phase. Throws a `RefusedError` when the dataset has no times, when
 * they descend, or when no request remains.
 */
function scheduledPart(dataset: Dataset, schedule: TracePlan): Dataset & { readonly due_ns: Float64Array } {
  const { due_ns } = dataset;
  if (due_ns === undefined) throw new RefusedError('--fixed-schedule: the input has no timestamps');
  const unordered = due_ns.findIndex((due, i) => due < (due_ns[i - 1] ?? -Infinity));
  if (unordered >= 0)
    throw new RefusedError(
      `--fixed-schedule: request ${unordered + 1} of the input has a lower timestamp than the one before it`,
    );
  const start_ns = Math.round((schedule.startOffset_ms ?? 0) * 1e6);
  const end_ns = schedule.endOffset_ms === null ? Infinity : Math.round(schedule.endOffset_ms * 1e6);
  const zero_ns = schedule.autoOffset ? (due_ns[0] ?? 0) : start_ns;
  const from = firstIndex(due_ns, (due) => due >= start_ns);
  const to = firstIndex(due_ns, (due) => due > end_ns);
  if (to <= from)
    throw new RefusedError(
      '--fixed-schedule: no request of the input is due between the start and the end of the schedule',
    );
  const speedup = schedule.speedup ?? 1;
  const times = due_ns.subarray(from, to).map((due) => Math.round((due - zero_ns) / speedup));
  return { ...fromPosition(dataset, from), due_ns: times };
}

function firstIndex(values: Float64Array, holds: (value: number) => boolean): number {
  const index = values.findIndex(holds);
  return index < 0 ? values.length : index;
}

function fromPosition(dataset: Dataset, from: number): Dataset {
  if (from === 0) return dataset;
  return {
    ...dataset,
    request: (phase, position) => dataset.request(phase, phase === 'measure' ? position + from : position),
  };
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
