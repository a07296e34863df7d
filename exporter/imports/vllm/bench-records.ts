import { outcomeOf } from '../../../core/measures/error-reasons.ts';
import { NOT_COUNTED, NOT_TRACED } from '../../../core/run/record.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { ImportNotes } from '../import-notes.ts';
import { chunkTimes_s } from '../serving-bench/request-lists.ts';
import type { ListedRequest, RequestLists } from '../serving-bench/request-lists.ts';
import type { VllmBackend } from './backend.ts';
import { contentTimes_s } from './content-times.ts';

const NS_PER_SECOND = 1e9;

/**
 * The records of requests that report when they were sent, read from the file; their zero is `zero_s`, when the first of them
 * was due. What is left out has been noted before.
 */
export async function* benchRecords(
  lists: RequestLists,
  backend: VllmBackend,
  zero_s: number,
): AsyncGenerator<RequestRecord> {
  for await (const requests of lists.requests(new ImportNotes())) {
    for (const request of requests) {
      if (request.sent_s !== null) yield recordOf(request, request.sent_s, backend, zero_s);
    }
  }
}

function recordOf(request: ListedRequest, sent_s: number, backend: VllmBackend, zero_s: number): RequestRecord {
  const { index, queued_s, failure } = request;
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
    http_status: failure === null ? 200 : failure.http_status,
    input_tokens: request.input_tokens,
    input_tokens_source: null,
    output_tokens: request.output_tokens,
    output_tokens_source: null,
    reasoning_tokens: null,
    cached_tokens: null,
    requested_output_tokens: null,
    chunk_offsets_ns: offsets,
    ...NOT_TRACED,
    ...NOT_COUNTED,
  };
}

function nanoseconds(seconds: number): number {
  return Math.round(seconds * NS_PER_SECOND);
}
