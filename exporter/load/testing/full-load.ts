import { FullLoad } from '../../../core/measures/in-flight.ts';
import type { RequestRecord } from '../../../core/run/record.ts';

/** Moments of a request at which the load is looked at. */
const MOMENTS = 10;

/** The time at which all slots were in use. A slot is in use from when its next request is due. */
export function fullLoad(sent: readonly RequestRecord[], concurrency: number): FullLoad {
  const due = Float64Array.from(sent, ({ due_ns }) => due_ns ?? NaN);
  const end = Float64Array.from(sent, ({ end_ns }) => end_ns);
  return new FullLoad(due.sort(), end.sort(), concurrency);
}

/** The requests during which not all slots were in use; what was before `from_ns` does not count. */
export function outsideFullLoad(
  requests: readonly RequestRecord[],
  full: FullLoad,
  from_ns = -Infinity,
): readonly RequestRecord[] {
  return requests.filter(({ due_ns, end_ns }) => {
    const start_ns = Math.max(due_ns ?? NaN, from_ns);
    const moments = Array.from({ length: MOMENTS }, (_, i) => start_ns + ((end_ns - start_ns) * i) / MOMENTS);
    return moments.some((at) => !full.holds(at));
  });
}
