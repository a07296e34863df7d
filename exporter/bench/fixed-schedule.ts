import type { Dataset } from './datasets/dataset.ts';
import type { TracePlan } from './load-plan.ts';

/** Which part of a trace is sent, and when its first request is due. Times are milliseconds, as AIPerf's flags. */
export interface FixedSchedule {
  /** The first request of the trace is due at once, whatever its time. */
  readonly autoOffset: boolean;
  /** The schedule starts here; what is due before is left out. */
  readonly startOffset_ms: number | null;
  /** What is due after is left out. */
  readonly endOffset_ms: number | null;
}

export interface ScheduledTrace {
  /** Its measure phase begins with the first request of the part. */
  readonly dataset: Dataset;
  readonly arrivals: TracePlan;
}

/**
 * The part of a dataset with times of its own that a fixed schedule sends. Throws a `RangeError` when the dataset has no
 * times, when they descend, or when nothing is left.
 */
export function scheduledTrace(dataset: Dataset, schedule: FixedSchedule): ScheduledTrace {
  const due_seconds = dataset.due_seconds;
  if (due_seconds === undefined) throw new RangeError('the input has no timestamps to follow');
  const due_ns = due_seconds.map((seconds) => Math.round(seconds * 1e9));
  const unordered = due_ns.findIndex((due, i) => due < (due_ns[i - 1] ?? -Infinity));
  if (unordered >= 0) throw new RangeError(`request ${unordered + 1} of the input is due before the one above it`);
  const start_ns = Math.round((schedule.startOffset_ms ?? 0) * 1e6);
  const end_ns = schedule.endOffset_ms === null ? Infinity : Math.round(schedule.endOffset_ms * 1e6);
  const zero_ns = schedule.autoOffset ? (due_ns[0] ?? 0) : start_ns;
  const from = firstIndex(due_ns, (due) => due >= start_ns);
  const to = firstIndex(due_ns, (due) => due > end_ns);
  if (to <= from) throw new RangeError('no request of the input lies between the start and the end of the schedule');
  return {
    dataset: fromPosition(dataset, from),
    arrivals: { kind: 'trace', offsets_ns: due_ns.subarray(from, to).map((due) => due - zero_ns) },
  };
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
