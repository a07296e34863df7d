import type { SchemaElement } from 'hyparquet';

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
