import type { RequestColumnsView, RequestField, RequestValues } from '../../../core/api/run-data.ts';
import { DISTRIBUTION_MEASURES } from '../../../core/measures/measures.ts';
import type { PerRequestMeasure } from '../../../core/measures/measures.ts';
import { figuresOf } from '../../../core/measures/request-figures.ts';
import type { RequestRecord } from '../../../core/run/record.ts';

const seconds = (ns: number | null): number | null => (ns === null ? null : ns / 1e9);

function measured(name: string, clock: PerRequestMeasure['clock'] = 'sent'): (record: RequestRecord) => number | null {
  const found = DISTRIBUTION_MEASURES.find((measure) => measure.measure === name && measure.clock === clock);
  if (found === undefined || found.value === null) throw new Error(`core/measures does not define ${name} (${clock})`);
  const { value } = found;
  return (record) => value(figuresOf(record));
}

const COLUMNS: { readonly [F in RequestField]: (record: RequestRecord) => RequestValues[F] } = {
  index: (r) => r.index,
  phase: (r) => r.phase,
  outcome: (r) => r.outcome,
  reason: (r) => r.reason,
  http_status: (r) => r.http_status,
  due_seconds: (r) => seconds(r.due_ns),
  sent_seconds: (r) => seconds(r.sent_ns),
  first_content_seconds: (r) => seconds(r.first_content_ns),
  last_content_seconds: (r) => seconds(r.last_content_ns),
  end_seconds: (r) => seconds(r.end_ns),
  time_to_first_token_seconds: measured('time_to_first_token'),
  time_to_first_token_from_due_seconds: measured('time_to_first_token', 'due'),
  inter_token_latency_seconds: measured('inter_token_latency'),
  request_latency_seconds: measured('request_latency'),
  request_latency_from_due_seconds: measured('request_latency', 'due'),
  schedule_delay_seconds: measured('schedule_delay', 'due'),
  connect_seconds: (r) => seconds(r.connect_ns),
  input_tokens: (r) => r.input_tokens,
  output_tokens: (r) => r.output_tokens,
  reasoning_tokens: (r) => r.reasoning_tokens,
  cached_tokens: (r) => r.cached_tokens,
  chunks: (r) => r.chunk_offsets_ns.length,
};

export const REQUEST_FIELDS = Object.keys(COLUMNS) as RequestField[];

/**
 * The requests that fit, in the order of the records, by column. When there are more than `limit`, every 2nd, 4th, 8th …
 * of them is taken, so that it takes one reading and no more memory than the response, and no value decides.
 */
export async function requestColumns(
  records: AsyncIterable<RequestRecord>,
  fits: (record: RequestRecord) => boolean,
  fields: readonly RequestField[],
  limit: number,
): Promise<RequestColumnsView> {
  let rows: RequestValues[RequestField][][] = [];
  let every = 1;
  let of = 0;
  for await (const record of records) {
    if (!fits(record)) continue;
    if (of % every === 0) {
      if (rows.length === limit) {
        rows = rows.filter((_, i) => i % 2 === 0);
        every *= 2;
      }
      if (of % every === 0) rows.push(fields.map((field) => COLUMNS[field](record)));
    }
    of += 1;
  }
  const columns = fields.map((field, i) => [field, rows.map((row) => row[i] ?? null)] as const);
  return {
    sampled: { shown: rows.length, of, every },
    columns: Object.fromEntries(columns),
  };
}
