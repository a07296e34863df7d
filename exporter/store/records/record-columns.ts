import type { SchemaElement } from 'hyparquet';
import type { RequestRecord } from '../../../core/run/record.ts';

/** The Parquet type of a column. */
export type ColumnKind = 'int64' | 'int32' | 'double' | 'boolean' | 'string' | 'int64 list';

/** The elements of a column in a Parquet schema. A list has the three levels that the format requires. */
export function columnSchema(name: string, kind: ColumnKind, nullable: boolean): SchemaElement[] {
  const repetition_type = nullable ? 'OPTIONAL' : 'REQUIRED';
  switch (kind) {
    case 'int64':
      return [{ name, type: 'INT64', repetition_type }];
    case 'int32':
      return [{ name, type: 'INT32', repetition_type }];
    case 'double':
      return [{ name, type: 'DOUBLE', repetition_type }];
    case 'boolean':
      return [{ name, type: 'BOOLEAN', repetition_type }];
    case 'string':
      return [{ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' }, repetition_type }];
    case 'int64 list':
      return [
        { name, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' }, repetition_type },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        { name: 'element', type: 'INT64', repetition_type: 'REQUIRED' },
      ];
  }
}

/** Converts a value for the writer of such a column. */
export function storedValue(value: unknown, kind: ColumnKind): unknown {
  if (kind === 'int64' && typeof value === 'number') return BigInt(value);
  if (kind === 'int64 list' && Array.isArray(value)) return value.map(BigInt);
  return value;
}

/** The Parquet type of a key of a record. */
interface RecordColumn {
  readonly name: keyof RequestRecord;
  readonly kind: Exclude<ColumnKind, 'double'>;
  readonly nullable: boolean;
}

const column = (name: keyof RequestRecord, kind: RecordColumn['kind']): RecordColumn => ({
  name,
  kind,
  nullable: false,
});
const nullable = (name: keyof RequestRecord, kind: RecordColumn['kind']): RecordColumn => ({
  name,
  kind,
  nullable: true,
});

/** The columns of `records/<shard>.parquet`: the keys of `RequestRecord`, in their order. Times are nanoseconds. */
export const RECORD_COLUMNS: readonly RecordColumn[] = [
  column('index', 'int64'),
  column('phase', 'string'),
  nullable('stage', 'int32'),
  nullable('conversation', 'int64'),
  nullable('turn', 'int32'),
  nullable('agent', 'int32'),
  nullable('conversation_requests', 'int32'),
  nullable('think_ns', 'int64'),
  nullable('tool_ns', 'int64'),
  nullable('planned_ns', 'int64'),
  nullable('model', 'string'),
  nullable('due_ns', 'int64'),
  column('sent_ns', 'int64'),
  nullable('first_content_ns', 'int64'),
  nullable('first_output_ns', 'int64'),
  nullable('last_content_ns', 'int64'),
  column('end_ns', 'int64'),
  nullable('connection_reused', 'boolean'),
  nullable('connect_ns', 'int64'),
  nullable('tcp_connect_ns', 'int64'),
  nullable('connection_retried', 'boolean'),
  column('outcome', 'string'),
  nullable('reason', 'string'),
  nullable('http_status', 'int32'),
  nullable('input_tokens', 'int32'),
  nullable('input_tokens_source', 'string'),
  nullable('output_tokens', 'int32'),
  nullable('output_tokens_source', 'string'),
  nullable('reasoning_tokens', 'int32'),
  nullable('cached_tokens', 'int32'),
  nullable('requested_output_tokens', 'int32'),
  nullable('image_tokens', 'int32'),
  nullable('audio_tokens', 'int32'),
  nullable('documents', 'int32'),
  nullable('images', 'int32'),
  nullable('image_bytes', 'int64'),
  nullable('audio_ns', 'int64'),
  nullable('audio_bytes', 'int64'),
  nullable('request_bytes', 'int64'),
  nullable('trace_id', 'string'),
  nullable('counted_input_tokens', 'int32'),
  nullable('counted_output_tokens', 'int32'),
  nullable('counted_reasoning_tokens', 'int32'),
  column('chunk_offsets_ns', 'int64 list'),
  nullable('http_blocked_ns', 'int64'),
  nullable('http_dns_lookup_ns', 'int64'),
  nullable('http_connecting_ns', 'int64'),
  nullable('http_tls_handshaking_ns', 'int64'),
  nullable('http_sending_ns', 'int64'),
  nullable('http_waiting_ns', 'int64'),
  nullable('http_receiving_ns', 'int64'),
  nullable('http_data_sent_bytes', 'int64'),
  nullable('http_data_received_bytes', 'int64'),
];

/** The Parquet schema of such columns. */
export const recordSchema = (columns: readonly RecordColumn[]): SchemaElement[] => [
  { name: 'record', num_children: columns.length },
  ...columns.flatMap(({ name, kind, nullable }) => columnSchema(name, kind, nullable)),
];
