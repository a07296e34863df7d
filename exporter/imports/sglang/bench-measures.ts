import type { MeasureResult } from '../../../core/run/result.ts';
import { asStated, benchStatistics } from '../bench-statistics.ts';
import { checkStatistics, NUMPY_LINEAR } from '../check-statistics.ts';
import type { ToldStatistics } from '../check-statistics.ts';
import type { Fields } from '../fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { lengthMeasures } from '../length-measures.ts';
import { chunkTimes_s } from '../request-lists.ts';
import type { ListedRequest } from '../request-lists.ts';
import { statedDistribution } from '../stated-measures.ts';
import type { StatedIdentity } from '../stated-measures.ts';
import { exactStated } from '../stated-values.ts';
import type { Backend } from './backend.ts';

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

/** What the summary tells: the end of a request is that of its answer, `[DONE]` included. `n`: ok requests. */
export function summaryLatencies(
  fields: Fields,
  backend: Backend,
  n: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  const gaps = statistics(fields, 'itl');
  const told: (readonly [StatedIdentity, ToldStatistics | null, number | null])[] = [
    [TTFT, gaps === null ? unstreamed(fields, notes) : statistics(fields, 'ttft'), n],
    [TOOL_TPOT, statistics(fields, 'tpot'), null],
    [retokenizes(fields, backend) ? SPREAD_GAPS : gapsOf(backend), gaps, null],
    [TOOL_LATENCY, statistics(fields, 'e2e_latency'), n],
  ];
  return told.flatMap(([identity, found, count]) =>
    found === null ? [] : [statedDistribution(identity, asStated(found, count))],
  );
}

/**
 * The latencies of the ok requests, exact, from the lists that `--output-details` adds: these end with the last chunk with
 * content. The summary is compared with them.
 */
export function listedLatencies(
  fields: Fields,
  requests: readonly ListedRequest[],
  backend: Backend,
  notes: ImportNotes,
): MeasureResult[] {
  const lengths = lengthMeasures(requests);
  if (!areStreamed(requests)) {
    notes.say('the answers were not streamed: what the tool calls the time to first token is the whole latency');
    return [...summaryLatencies(fields, backend, requests.length, notes).filter(isWhole), ...lengths];
  }
  const spans = requests.map((request) => ({ request, times: chunkTimes_s(request) }));
  const first = Float64Array.from(spans.flatMap(({ times }) => times[0] ?? []));
  const last = Float64Array.from(spans.flatMap(({ times }) => times.at(-1) ?? []));
  const gaps = Float64Array.from(requests.flatMap(({ gaps_s }) => gaps_s));
  const perToken = spans.flatMap(({ request: { output_tokens }, times: [from, ...rest] }) => {
    if (from === undefined || output_tokens === null || output_tokens < 2) return [];
    return [((rest.at(-1) ?? from) - from) / (output_tokens - 1)];
  });
  check('ttft', fields, first, notes);
  if (!retokenizes(fields, backend)) check('itl', fields, gaps, notes);
  const exact = [
    exactStated(TTFT, first),
    exactStated(TPOT, Float64Array.from(perToken)),
    exactStated(gapsOf(backend), gaps),
    exactStated(LATENCY, last),
  ];
  return [...exact.filter((result) => result !== null), ...lengths];
}

/** Whether any answer came in more than one piece; one token comes in one piece anyhow. */
export function areStreamed(requests: readonly ListedRequest[]): boolean {
  return (
    requests.some(({ gaps_s }) => gaps_s.length > 0) || requests.every(({ output_tokens }) => (output_tokens ?? 0) < 2)
  );
}

function gapsOf({ spreadsGaps }: Backend): StatedIdentity {
  return spreadsGaps ? SPREAD_GAPS : GAPS;
}

/** With speculative decoding the summary's gaps are spread over the tokens of their chunks, counted by a tokenizer. */
function retokenizes(fields: Fields, { spreadsGaps }: Backend): boolean {
  return !spreadsGaps && (fields.amount('accept_length') ?? 0) > 0;
}

function unstreamed(fields: Fields, notes: ImportNotes): null {
  const said = statistics(fields, 'ttft') !== null;
  if (said) notes.say('no gap between chunks: the time to first token may be the whole latency, and is not taken');
  return null;
}

function isWhole({ measure }: MeasureResult): boolean {
  return measure === LATENCY.measure;
}

function check(metric: string, fields: Fields, values: Float64Array, notes: ImportNotes): void {
  const told = statistics(fields, metric);
  if (told !== null) checkStatistics(metric, told, values, NUMPY_LINEAR, notes);
}

/** Early versions left the `_ms` out of the names; the values were milliseconds already. */
function statistics(fields: Fields, metric: string): ToldStatistics | null {
  return benchStatistics(fields, metric) ?? benchStatistics(fields, metric, '');
}
