import type { SchemaElement } from 'hyparquet';
import type { RequestRecord } from '../../core/run/record.ts';

/** How a key of a record is kept in Parquet. */
interface RecordColumn {
  readonly name: keyof RequestRecord;
  readonly kind: 'int64' | 'int32' | 'boolean' | 'string' | 'int64 list';
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
  column('due_ns', 'int64'),
  column('sent_ns', 'int64'),
  nullable('first_content_ns', 'int64'),
  nullable('last_content_ns', 'int64'),
  column('end_ns', 'int64'),
  nullable('connection_reused', 'boolean'),
  nullable('connect_ns', 'int64'),
  column('outcome', 'string'),
  nullable('reason', 'string'),
  nullable('http_status', 'int32'),
  nullable('input_tokens', 'int32'),
  nullable('input_tokens_source', 'string'),
  nullable('output_tokens', 'int32'),
  nullable('output_tokens_source', 'string'),
  nullable('reasoning_tokens', 'int32'),
  nullable('cached_tokens', 'int32'),
  column('requested_output_tokens', 'int32'),
  column('chunk_offsets_ns', 'int64 list'),
];

/** The record with these columns only: whatever else an object carries (text, say) never reaches a file. */
export function columnsOf(record: RequestRecord): RequestRecord {
  const columns: Partial<Record<keyof RequestRecord, unknown>> = {};
  for (const { name } of RECORD_COLUMNS) columns[name] = record[name];
  return columns as RequestRecord;
}

/** The Parquet schema of the columns. The list has the three levels that the format asks for. */
export const RECORD_SCHEMA: SchemaElement[] = [
  { name: 'record', num_children: RECORD_COLUMNS.length },
  ...RECORD_COLUMNS.flatMap(schemaOf),
];

function schemaOf({ name, kind, nullable }: RecordColumn): SchemaElement[] {
  const repetition_type = nullable ? 'OPTIONAL' : 'REQUIRED';
  switch (kind) {
    case 'int64':
      return [{ name, type: 'INT64', repetition_type }];
    case 'int32':
      return [{ name, type: 'INT32', repetition_type }];
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
