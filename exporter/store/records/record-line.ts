import type { RequestRecord } from '../../../core/run/record.ts';

/**
 * A record as one line of JSON in ASCII, without line end; unknown values are omitted. It contains only the known
 * columns: other members of the object (such as text) never reach a file. A run writes one line per request, and an
 * object that always has the same keys is the fastest to write.
 */
export function recordLine(record: RequestRecord): string {
  const known: Readonly<Record<keyof RequestRecord, unknown>> = {
    index: record.index,
    phase: record.phase,
    stage: record.stage ?? undefined,
    due_ns: record.due_ns ?? undefined,
    sent_ns: record.sent_ns,
    first_content_ns: record.first_content_ns ?? undefined,
    first_output_ns: record.first_output_ns ?? undefined,
    last_content_ns: record.last_content_ns ?? undefined,
    end_ns: record.end_ns,
    connection_reused: record.connection_reused ?? undefined,
    connect_ns: record.connect_ns ?? undefined,
    connection_retried: record.connection_retried ?? undefined,
    outcome: record.outcome,
    reason: record.reason ?? undefined,
    http_status: record.http_status ?? undefined,
    input_tokens: record.input_tokens ?? undefined,
    input_tokens_source: record.input_tokens_source ?? undefined,
    output_tokens: record.output_tokens ?? undefined,
    output_tokens_source: record.output_tokens_source ?? undefined,
    reasoning_tokens: record.reasoning_tokens ?? undefined,
    cached_tokens: record.cached_tokens ?? undefined,
    requested_output_tokens: record.requested_output_tokens ?? undefined,
    counted_input_tokens: record.counted_input_tokens ?? undefined,
    counted_output_tokens: record.counted_output_tokens ?? undefined,
    counted_reasoning_tokens: record.counted_reasoning_tokens ?? undefined,
    chunk_offsets_ns: record.chunk_offsets_ns,
    http_blocked_ns: record.http_blocked_ns ?? undefined,
    http_dns_lookup_ns: record.http_dns_lookup_ns ?? undefined,
    http_connecting_ns: record.http_connecting_ns ?? undefined,
    http_tls_handshaking_ns: record.http_tls_handshaking_ns ?? undefined,
    http_sending_ns: record.http_sending_ns ?? undefined,
    http_waiting_ns: record.http_waiting_ns ?? undefined,
    http_receiving_ns: record.http_receiving_ns ?? undefined,
    http_data_sent_bytes: record.http_data_sent_bytes ?? undefined,
    http_data_received_bytes: record.http_data_received_bytes ?? undefined,
  };
  return JSON.stringify(known);
}
