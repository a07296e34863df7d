import { outcomeOf } from '../../../core/measures/error-reasons.ts';
import { NOT_TRACED } from '../../../core/run/record.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { pythonError } from '../python-error.ts';
import { chunkTimes_s } from '../request-lists.ts';
import type { ListedRequest } from '../request-lists.ts';
import type { Backend } from './backend.ts';
import { contentTimes_s } from './content-times.ts';

const NS_PER_SECOND = 1e9;

/** A request whose sending has a time. */
type TimedRequest = ListedRequest & { readonly sent_s: number };

/** Whether each request tells when it was sent: without that there are no records. */
export function areTimed(requests: readonly ListedRequest[]): requests is readonly TimedRequest[] {
  return requests.length > 0 && requests.every(({ sent_s }) => sent_s !== null);
}

/** The records of requests that tell when they were sent; their zero is when the first of them was due. */
export async function* benchRecords(
  requests: readonly TimedRequest[],
  backend: Backend,
): AsyncGenerator<RequestRecord> {
  const zero_s = requests.reduce(
    (earliest, { sent_s, queued_s }) => Math.min(earliest, sent_s - (queued_s ?? 0)),
    Infinity,
  );
  for (const request of requests) yield recordOf(request, backend, zero_s);
}

function recordOf(request: TimedRequest, backend: Backend, zero_s: number): RequestRecord {
  const { index, sent_s, queued_s, error } = request;
  const failure = error === null ? null : pythonError(error);
  const sent_ns = nanoseconds(sent_s - zero_s);
  const content = contentTimes_s(request, backend);
  const offsets = (content ?? []).map(nanoseconds);
  const first = offsets[0];
  const last = offsets.at(-1);
  const end_s = Math.max(request.latency_s ?? 0, chunkTimes_s(request).at(-1) ?? 0);
  return {
    index,
    phase: 'measure',
    due_ns: queued_s === null ? null : nanoseconds(sent_s - queued_s - zero_s),
    sent_ns,
    first_content_ns: first === undefined ? null : sent_ns + first,
    first_output_ns: null,
    last_content_ns: last === undefined ? null : sent_ns + last,
    end_ns: sent_ns + nanoseconds(end_s),
    connection_reused: null,
    connect_ns: null,
    connection_retried: null,
    outcome: outcomeOf(failure?.reason ?? null),
    reason: failure?.reason ?? null,
    http_status: failure?.http_status ?? (error === null ? 200 : null),
    input_tokens: request.input_tokens,
    input_tokens_source: null,
    output_tokens: request.output_tokens,
    output_tokens_source: null,
    reasoning_tokens: null,
    cached_tokens: null,
    requested_output_tokens: null,
    chunk_offsets_ns: offsets,
    ...NOT_TRACED,
  };
}

function nanoseconds(seconds: number): number {
  return Math.round(seconds * NS_PER_SECOND);
}
