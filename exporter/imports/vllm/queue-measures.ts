import type { MeasureResult, ResultFile } from '../../../core/run/result.ts';
import { asStated, benchStatistics } from '../serving-bench/bench-statistics.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { RequestLists } from '../serving-bench/request-lists.ts';
import { statedDistribution } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';
import { exactStated } from '../stated/stated-values.ts';

const SCHEDULE_DELAY: StatedIdentity = { measure: 'schedule_delay', definition: 'due_to_sent', clock: 'due' };
const FROM_DUE: StatedIdentity = { measure: 'request_latency', definition: 'due_to_last_chunk', clock: 'due' };
const LATENCY: StatedIdentity = { measure: 'request_latency', definition: 'sent_to_last_chunk' };

/**
 * The wait for a free slot. `latencies` and `queue_times` stay in a result without detail; without the errors they can only
 * be used when no request failed.
 */
export function queueMeasures(
  fields: Fields,
  lists: RequestLists,
  counts: Pick<Record<keyof ResultFile['requests'], number | null>, 'ok' | 'error'>,
  notes: ImportNotes,
): MeasureResult[] {
  const stated: MeasureResult[] = [];
  for (const [metric, identity] of [
    ['client_queue_time', SCHEDULE_DELAY],
    ['e2el_including_client_queue', FROM_DUE],
  ] as const) {
    const reported = benchStatistics(fields, metric);
    if (reported !== null) stated.push(statedDistribution(identity, asStated(reported, counts.ok)));
  }
  const usable = !lists.has('ttfts') && counts.error === 0;
  const waits = usable ? amounts(lists, 'queue_times', notes) : null;
  const latencies = usable ? amounts(lists, 'latencies', notes) : null;
  fields.ignore('queue_times', 'latencies');
  const exact = [
    waits && exactStated(SCHEDULE_DELAY, waits),
    latencies && exactStated(LATENCY, latencies),
    waits && latencies?.length === waits.length
      ? exactStated(
          FROM_DUE,
          latencies.map((latency, i) => latency + (waits[i] ?? NaN)),
        )
      : null,
  ];
  const computed = exact.filter((result) => result !== null);
  const replaced = new Set(computed.map(({ measure, clock }) => `${measure} ${clock}`));
  return [...computed, ...stated.filter(({ measure, clock }) => !replaced.has(`${measure} ${clock}`))];
}

function amounts(lists: RequestLists, name: 'queue_times' | 'latencies', notes: ImportNotes): Float64Array | null {
  const values = lists.numbers(name);
  if (values === null || !values.some(Number.isNaN)) return values;
  notes.add(`${name} contains invalid values: it is ignored`);
  return null;
}
