import type { MeasureResult } from '../../../core/run/result.ts';
import { asStated, benchStatistics, benchUnit } from '../serving-bench/bench-fields.ts';
import { checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { ListedSurvey } from '../serving-bench/listed-survey.ts';
import type { RequestLists } from '../serving-bench/request-lists.ts';
import { exactStated, statedDistribution, statedScalars } from '../stated/stated-measures.ts';
import type { StatedFigure, StatedIdentity } from '../stated/stated-measures.ts';
import type { VllmBackend } from './backend.ts';

type Metric = 'ttft' | 'tpot' | 'itl' | 'e2el';

interface Definitions {
  readonly measure: string;
  /** Of values taken from the chunks with content alone. */
  readonly byContent: string;
  /** Of the tool's own figures: a response may end with a chunk without content. */
  readonly byTokenChunk: string;
  /** Of the tool's own figures where it also takes a first chunk without content for a token. */
  readonly byAnyChunk: string;
}

const definitions = (measure: string, byContent: string, byTokenChunk: string, byAnyChunk: string): Definitions => ({
  ...{ measure, byContent, byTokenChunk, byAnyChunk },
});

const PER_REQUEST = 'per_request_mean_tokens_of_unknown_source';
const BETWEEN_CHUNKS = 'per_request_mean_between_chunks_tokens_of_unknown_source';
const FIRST_CONTENT = 'sent_to_first_content_chunk';
const LAST = 'sent_to_last_chunk';
const GAP = 'gap_between_chunks';

const LATENCIES: Readonly<Record<Metric, Definitions>> = {
  ttft: definitions('time_to_first_token', FIRST_CONTENT, FIRST_CONTENT, 'sent_to_first_chunk'),
  tpot: definitions('inter_token_latency', PER_REQUEST, PER_REQUEST, BETWEEN_CHUNKS),
  itl: definitions('inter_chunk_latency', 'gap_between_content_chunks', GAP, GAP),
  e2el: definitions('request_latency', 'sent_to_last_content_chunk', LAST, LAST),
};
const METRICS = Object.keys(LATENCIES) as Metric[];

/** What the result reports of the run as a whole. */
const SCALARS: readonly StatedFigure[] = [
  ['request_throughput', 'request_throughput', 'ok_requests_over_wall_time'],
  ['output_throughput', 'output_token_throughput', 'output_tokens_of_unknown_source_over_wall_time'],
  ['input_throughput', 'input_token_throughput', 'input_tokens_of_unknown_source_over_wall_time'],
  ['total_token_throughput', 'total_token_throughput', 'tokens_of_unknown_source_over_wall_time'],
  ['request_goodput', 'goodput', 'good_requests_of_unknown_limits_over_wall_time', { unit: 'requests_per_second' }],
  // A percentage, from the server's counters before and after.
  [
    'spec_decode_acceptance_rate',
    'draft_token_acceptance_ratio',
    'accepted_over_drafted_tokens',
    { unit: 'ratio', origin: 'server', scale: 0.01 },
  ],
  [
    'spec_decode_acceptance_length',
    'accepted_tokens_per_step',
    'one_plus_accepted_over_drafts',
    { unit: 'tokens', origin: 'server' },
  ],
];

/** The figures of the run as a whole; what the result does not report is absent. */
export const totals = (fields: Fields): MeasureResult[] => statedScalars((name) => fields.amount(name), SCALARS);

/** The latencies that the summary of a result reports, under the tool's definitions. `n`: ok requests. */
export function summaryLatencies(
  fields: Fields,
  backend: VllmBackend,
  n: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  const unit = benchUnit(fields);
  if (unit === 'seconds') notes.add('latencies have no unit in their names and are read as seconds');
  if (unit === null) {
    notes.add('latencies left out: their names have no unit, and no time per token shows it');
    return [];
  }
  return METRICS.flatMap((metric) => {
    const reported = benchStatistics(fields, metric, unit);
    // How many requests had a second token, and how many gaps there were, the summary does not report.
    const count = metric === 'ttft' || metric === 'e2el' ? n : null;
    const identity = identityOf(metric, backend.countsTokenChunks ? 'byTokenChunk' : 'byAnyChunk');
    return reported === null ? [] : [statedDistribution(identity, asStated(reported, count))];
  });
}

/** The latencies of the ok requests, exact, from what the file lists. */
export function listedLatencies({ byContent }: ListedSurvey, backend: VllmBackend): MeasureResult[] {
  return METRICS.flatMap((metric) => {
    const identity = identityOf(metric, backend.countsTokenChunks ? 'byContent' : 'byAnyChunk');
    return (
      (metric === 'itl' ? byContent.itl.stated(identity) : exactStated(identity, byContent[metric].toArray())) ?? []
    );
  });
}

/** Compares what the summary reports with what the file lists, both as the tool has them. */
export function checkSummary(fields: Fields, { byChunk, withLatency, ok }: ListedSurvey, notes: ImportNotes): void {
  // Older versions took the end of the response for its last chunk, which the lists do not hold.
  const checked = withLatency === ok ? METRICS : (['ttft', 'itl'] as const);
  for (const metric of checked) {
    const reported = benchStatistics(fields, metric);
    if (reported === null) continue;
    if (metric === 'itl') byChunk.itl.check(metric, reported, notes);
    else checkStatistics(metric, reported, byChunk[metric].toArray(), NUMPY_LINEAR, notes);
  }
}

function identityOf(metric: Metric, by: 'byContent' | 'byTokenChunk' | 'byAnyChunk'): StatedIdentity {
  return { measure: LATENCIES[metric].measure, definition: LATENCIES[metric][by] };
}

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
  counts: { readonly ok: number | null; readonly error: number | null },
  notes: ImportNotes,
): MeasureResult[] {
  const stated = (
    [
      ['client_queue_time', SCHEDULE_DELAY],
      ['e2el_including_client_queue', FROM_DUE],
    ] as const
  ).flatMap(([metric, identity]) => {
    const reported = benchStatistics(fields, metric);
    return reported === null ? [] : [statedDistribution(identity, asStated(reported, counts.ok))];
  });
  const usable = !lists.has('ttfts') && counts.error === 0;
  const waits = usable ? amounts(lists, 'queue_times', notes) : null;
  const latencies = usable ? amounts(lists, 'latencies', notes) : null;
  const fromDue =
    waits && latencies?.length === waits.length ? latencies.map((each, i) => each + (waits[i] ?? NaN)) : null;
  fields.ignore('queue_times', 'latencies');
  const computed = (
    [
      [SCHEDULE_DELAY, waits],
      [LATENCY, latencies],
      [FROM_DUE, fromDue],
    ] as const
  ).flatMap(([identity, values]) => (values && exactStated(identity, values)) ?? []);
  const replaced = new Set(computed.map(({ measure, clock }) => `${measure} ${clock}`));
  return [...computed, ...stated.filter(({ measure, clock }) => !replaced.has(`${measure} ${clock}`))];
}

function amounts(lists: RequestLists, name: 'queue_times' | 'latencies', notes: ImportNotes): Float64Array | null {
  const values = lists.numbers(name);
  if (values === null || !values.some(Number.isNaN)) return values;
  notes.add(`${name} contains invalid values: it is ignored`);
  return null;
}
