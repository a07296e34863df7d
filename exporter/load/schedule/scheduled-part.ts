import type { Dataset } from '../datasets/dataset.ts';
import type { TracePlan } from './load-plan.ts';

/**
 * The part of a dataset with timestamps that a trace sends: the measure phase begins with the first request of the
 * part, and its times are relative to the start of the phase. Throws a `RangeError` when the dataset has no times, when
 * they descend, or when no request remains.
 */
export function scheduledPart(dataset: Dataset, schedule: TracePlan): Dataset & { readonly due_ns: Float64Array } {
  const { due_ns } = dataset;
  if (due_ns === undefined) throw new RangeError('the input has no timestamps');
  const unordered = due_ns.findIndex((due, i) => due < (due_ns[i - 1] ?? -Infinity));
  if (unordered >= 0)
    throw new RangeError(`request ${unordered + 1} of the input has a lower timestamp than the one before it`);
  const start_ns = Math.round((schedule.startOffset_ms ?? 0) * 1e6);
  const end_ns = schedule.endOffset_ms === null ? Infinity : Math.round(schedule.endOffset_ms * 1e6);
  const zero_ns = schedule.autoOffset ? (due_ns[0] ?? 0) : start_ns;
  const from = firstIndex(due_ns, (due) => due >= start_ns);
  const to = firstIndex(due_ns, (due) => due > end_ns);
  if (to <= from) throw new RangeError('no request of the input is due between the start and the end of the schedule');
  return { ...fromPosition(dataset, from), due_ns: due_ns.subarray(from, to).map((due) => due - zero_ns) };
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
