import type { MeasureResult } from '../../../core/run/result.ts';
import { asStated, benchStatistics } from '../bench-statistics.ts';
import { checkStatistics, NUMPY_LINEAR } from '../check-statistics.ts';
import type { Fields } from '../fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { chunkTimes_s } from '../request-lists.ts';
import type { ListedRequest } from '../request-lists.ts';
import { statedDistribution } from '../stated-measures.ts';
import type { StatedIdentity } from '../stated-measures.ts';
import { exactStated } from '../stated-values.ts';
import type { Backend } from './backend.ts';
import { contentTimes_s } from './content-times.ts';

type Metric = 'ttft' | 'tpot' | 'itl' | 'e2el';
type Values = Readonly<Record<Metric, Float64Array>>;
type Definitions = Readonly<Record<Metric, string>>;

const MEASURES: Readonly<Record<Metric, string>> = {
  ttft: 'time_to_first_token',
  tpot: 'inter_token_latency',
  itl: 'inter_chunk_latency',
  e2el: 'request_latency',
};
const METRICS = Object.keys(MEASURES) as Metric[];

/** Of values taken from the chunks with content alone. */
const BY_CONTENT: Definitions = {
  ttft: 'sent_to_first_content_chunk',
  tpot: 'per_request_mean_tokens_of_unknown_source',
  itl: 'gap_between_content_chunks',
  e2el: 'sent_to_last_content_chunk',
};

/** Of the tool's own figures: an answer may end with a chunk without content. */
const BY_TOKEN_CHUNK: Definitions = { ...BY_CONTENT, itl: 'gap_between_chunks', e2el: 'sent_to_last_chunk' };

/** Of the tool's own figures where it also takes a first chunk without content for a token. */
const BY_ANY_CHUNK: Definitions = {
  ...BY_TOKEN_CHUNK,
  ttft: 'sent_to_first_chunk',
  tpot: 'per_request_mean_between_chunks_tokens_of_unknown_source',
};

/** The latencies that the summary of a result tells, under the tool's definitions. `n`: ok requests. */
export function summaryLatencies(fields: Fields, backend: Backend, n: number | null): MeasureResult[] {
  const definitions = backend.countsTokenChunks ? BY_TOKEN_CHUNK : BY_ANY_CHUNK;
  return METRICS.flatMap((metric) => {
    const told = benchStatistics(fields, metric);
    // How many requests had a second token, and how many gaps there were, the summary does not tell.
    const count = metric === 'ttft' || metric === 'e2el' ? n : null;
    return told === null ? [] : [statedDistribution(identityOf(metric, definitions), asStated(told, count))];
  });
}

/** The latencies of requests whose values the file lists, exact. `requests`: those that are ok. */
export function listedLatencies(requests: readonly ListedRequest[], backend: Backend): MeasureResult[] {
  const definitions = backend.countsTokenChunks ? BY_CONTENT : BY_ANY_CHUNK;
  const values = valuesOf(requests, (request) => contentTimes_s(request, backend) ?? chunkTimes_s(request));
  return METRICS.flatMap((metric) => exactStated(identityOf(metric, definitions), values[metric]) ?? []);
}

/** Compares what the summary tells with what the file lists, both as the tool has them. `requests`: those that are ok. */
export function checkSummary(fields: Fields, requests: readonly ListedRequest[], notes: ImportNotes): void {
  const values = valuesOf(requests, chunkTimes_s);
  // Older versions took the end of the answer for its last chunk, which the lists do not hold.
  const ends = requests.every(({ latency_s }) => latency_s !== null);
  const own: Partial<Values> = ends ? values : { ttft: values.ttft, itl: values.itl };
  for (const metric of METRICS) {
    const told = benchStatistics(fields, metric);
    const listed = own[metric];
    if (told !== null && listed !== undefined) checkStatistics(metric, told, listed, NUMPY_LINEAR, notes);
  }
}

function identityOf(metric: Metric, definitions: Definitions): StatedIdentity {
  return { measure: MEASURES[metric], definition: definitions[metric] };
}

function valuesOf(requests: readonly ListedRequest[], timesOf: (request: ListedRequest) => readonly number[]): Values {
  const values: Record<Metric, number[]> = { ttft: [], tpot: [], itl: [], e2el: [] };
  for (const request of requests) {
    const times = timesOf(request);
    const [first] = times;
    const last = times.at(-1);
    if (first === undefined || last === undefined) continue;
    values.ttft.push(first);
    values.e2el.push(last);
    if (request.output_tokens !== null && request.output_tokens > 1) {
      values.tpot.push((last - first) / (request.output_tokens - 1));
    }
    for (let i = 1; i < times.length; i++) values.itl.push((times[i] ?? NaN) - (times[i - 1] ?? NaN));
  }
  return {
    ttft: Float64Array.from(values.ttft),
    tpot: Float64Array.from(values.tpot),
    itl: Float64Array.from(values.itl),
    e2el: Float64Array.from(values.e2el),
  };
}
