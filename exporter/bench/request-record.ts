import { outcomeOf } from '../../core/measures/error-reasons.ts';
import type { ErrorReason, PhaseName, RequestRecord } from '../../core/run/record.ts';
import type { Usage } from './endpoints/endpoint.ts';
import type { ConnectionFacts } from './transport.ts';

/** A request as it was sent; times are since the run's start. */
export interface SentRequest {
  readonly index: number;
  readonly phase: PhaseName;
  readonly due_ns: number;
  readonly sent_ns: number;
  readonly requested_output_tokens: number;
}

/** What is known of its answer in the end. */
export interface ReadAnswer {
  readonly end_ns: number;
  readonly reason: ErrorReason | null;
  readonly status: number | null;
  readonly connection: ConnectionFacts | null;
  readonly usage: Usage | null;
  /** Arrival of each content chunk since the request was sent. */
  readonly offsets_ns: readonly number[];
}

export function requestRecord(sent: SentRequest, answer: ReadAnswer): RequestRecord {
  const { usage, connection, offsets_ns } = answer;
  const first = offsets_ns[0];
  const last = offsets_ns.at(-1);
  const input_tokens = usage?.input_tokens ?? null;
  const output_tokens = usage?.output_tokens ?? null;
  return {
    index: sent.index,
    phase: sent.phase,
    due_ns: sent.due_ns,
    sent_ns: sent.sent_ns,
    first_content_ns: first === undefined ? null : sent.sent_ns + first,
    last_content_ns: last === undefined ? null : sent.sent_ns + last,
    end_ns: answer.end_ns,
    connection_reused: connection?.reused ?? null,
    connect_ns: connection?.connect_ns ?? null,
    outcome: outcomeOf(answer.reason),
    reason: answer.reason,
    http_status: answer.status,
    input_tokens,
    input_tokens_source: input_tokens === null ? null : 'usage',
    output_tokens,
    output_tokens_source: output_tokens === null ? null : 'usage',
    reasoning_tokens: usage?.reasoning_tokens ?? null,
    cached_tokens: usage?.cached_tokens ?? null,
    requested_output_tokens: sent.requested_output_tokens,
    chunk_offsets_ns: offsets_ns,
  };
}
