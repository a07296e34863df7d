import type { MeasureResult } from '../../../core/run/result.ts';
import { asStated, benchStatistics, benchUnit } from '../serving-bench/bench-statistics.ts';
import { checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { ListedSurvey } from '../serving-bench/listed-survey.ts';
import { statedDistribution } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';
import { exactStated } from '../stated/stated-values.ts';
import type { VllmBackend } from './backend.ts';

type Metric = 'ttft' | 'tpot' | 'itl' | 'e2el';
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

/** Of the tool's own figures: a response may end with a chunk without content. */
const BY_TOKEN_CHUNK: Definitions = { ...BY_CONTENT, itl: 'gap_between_chunks', e2el: 'sent_to_last_chunk' };

/** Of the tool's own figures where it also takes a first chunk without content for a token. */
const BY_ANY_CHUNK: Definitions = {
  ...BY_TOKEN_CHUNK,
  ttft: 'sent_to_first_chunk',
  tpot: 'per_request_mean_between_chunks_tokens_of_unknown_source',
};

/** The latencies that the summary of a result reports, under the tool's definitions. `n`: ok requests. */
export function summaryLatencies(
  fields: Fields,
  backend: VllmBackend,
  n: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  const definitions = backend.countsTokenChunks ? BY_TOKEN_CHUNK : BY_ANY_CHUNK;
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
    return reported === null ? [] : [statedDistribution(identityOf(metric, definitions), asStated(reported, count))];
  });
}

/** The latencies of the ok requests, exact, from what the file lists. */
export function listedLatencies({ byContent }: ListedSurvey, backend: VllmBackend): MeasureResult[] {
  const definitions = backend.countsTokenChunks ? BY_CONTENT : BY_ANY_CHUNK;
  return METRICS.flatMap((metric) => {
    const identity = identityOf(metric, definitions);
    const stated =
      metric === 'itl' ? byContent.itl.stated(identity) : exactStated(identity, byContent[metric].toArray());
    return stated ?? [];
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

function identityOf(metric: Metric, definitions: Definitions): StatedIdentity {
  return { measure: MEASURES[metric], definition: definitions[metric] };
}
