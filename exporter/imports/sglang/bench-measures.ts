import type { MeasureResult } from '../../../core/run/result.ts';
import { asStated, benchStatistics } from '../serving-bench/bench-statistics.ts';
import { checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import type { ReportedStatistics } from '../stated/check-statistics.ts';
import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { lengthMeasures } from '../serving-bench/length-measures.ts';
import type { ListedSurvey } from '../serving-bench/listed-survey.ts';
import { statedDistribution } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';
import { exactStated } from '../stated/stated-values.ts';
import type { SglangBackend } from './backend.ts';

const TTFT: StatedIdentity = { measure: 'time_to_first_token', definition: 'sent_to_first_content_chunk' };
const LATENCY: StatedIdentity = { measure: 'request_latency', definition: 'sent_to_last_content_chunk' };
const TOOL_LATENCY: StatedIdentity = { measure: 'request_latency', definition: 'sent_to_end_of_answer' };
const TPOT: StatedIdentity = {
  measure: 'inter_token_latency',
  definition: 'per_request_mean_tokens_of_unknown_source',
};
const TOOL_TPOT: StatedIdentity = {
  measure: 'inter_token_latency',
  definition: 'per_request_mean_to_end_of_answer_tokens_of_unknown_source',
};
const GAPS: StatedIdentity = { measure: 'inter_chunk_latency', definition: 'gap_between_content_chunks' };
const SPREAD_GAPS: StatedIdentity = { measure: 'inter_chunk_latency', definition: 'gap_spread_over_its_tokens' };

/** What the summary reports: the end of a request is that of its response, `[DONE]` included. `n`: ok requests. */
export function summaryLatencies(
  fields: Fields,
  backend: SglangBackend,
  n: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  const gaps = statistics(fields, 'itl');
  const reported: (readonly [StatedIdentity, ReportedStatistics | null, number | null])[] = [
    [TTFT, gaps === null ? unstreamed(fields, notes) : statistics(fields, 'ttft'), n],
    [TOOL_TPOT, statistics(fields, 'tpot'), null],
    [retokenizes(fields, backend) ? SPREAD_GAPS : gapsOf(backend), gaps, null],
    [TOOL_LATENCY, statistics(fields, 'e2e_latency'), n],
  ];
  return reported.flatMap(([identity, found, count]) =>
    found === null ? [] : [statedDistribution(identity, asStated(found, count))],
  );
}

/**
 * The latencies of the ok requests, exact, from the lists that `--output-details` adds: these end with the last chunk with
 * content. The summary is compared with them.
 */
export function listedLatencies(
  fields: Fields,
  survey: ListedSurvey,
  backend: SglangBackend,
  notes: ImportNotes,
): MeasureResult[] {
  const lengths = lengthMeasures(survey);
  if (!survey.isStreamed) {
    notes.add('responses were not streamed: what the tool reports as time to first token is the whole latency');
    return [...summaryLatencies(fields, backend, survey.ok, notes).filter(isWhole), ...lengths];
  }
  const { ttft, tpot, itl, e2el } = survey.byChunk;
  const firsts = ttft.toArray();
  check(fields, firsts, notes);
  const reported = retokenizes(fields, backend) ? null : statistics(fields, 'itl');
  if (reported !== null) itl.check('itl', reported, notes);
  const exact = [
    exactStated(TTFT, firsts),
    exactStated(TPOT, tpot.toArray()),
    itl.stated(gapsOf(backend)),
    exactStated(LATENCY, e2el.toArray()),
  ];
  return [...exact.filter((result) => result !== null), ...lengths];
}

function gapsOf({ spreadsGaps }: SglangBackend): StatedIdentity {
  return spreadsGaps ? SPREAD_GAPS : GAPS;
}

/** With speculative decoding the summary's gaps are spread over the tokens of their chunks, counted by a tokenizer. */
function retokenizes(fields: Fields, { spreadsGaps }: SglangBackend): boolean {
  return !spreadsGaps && (fields.amount('accept_length') ?? 0) > 0;
}

function unstreamed(fields: Fields, notes: ImportNotes): null {
  const said = statistics(fields, 'ttft') !== null;
  if (said) notes.add('no gap between chunks: the time to first token may be the whole latency, and is ignored');
  return null;
}

function isWhole({ measure }: MeasureResult): boolean {
  return measure === LATENCY.measure;
}

function check(fields: Fields, firsts: Float64Array, notes: ImportNotes): void {
  const reported = statistics(fields, 'ttft');
  if (reported !== null) checkStatistics('ttft', reported, firsts, NUMPY_LINEAR, notes);
}

/** Early versions left the `_ms` out of the names; the values were milliseconds already. */
function statistics(fields: Fields, metric: string): ReportedStatistics | null {
  return benchStatistics(fields, metric) ?? benchStatistics(fields, metric, 'ms without suffix');
}
