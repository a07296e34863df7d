import { ERROR_REASONS, OUTCOMES, PHASES } from '../../../core/run/record.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { RECORD_COLUMNS } from './record-columns.ts';
import { DamagedRunError } from '../../errors/store-errors.ts';
import { openRegularFile } from '../../files/read-regular-file.ts';

/**
 * The records of a JSONL file, in order. A truncated last line (the process or machine stopped while writing) is
 * ignored; any other line that is not a record throws a `DamagedRunError` with its line number.
 */
export async function* readJsonlRecords(path: string): AsyncGenerator<RequestRecord> {
  let number = 0;
  let torn: { number: number; reason: string } | null = null;
  for await (const line of linesOf(path)) {
    if (torn !== null) throw new DamagedRunError(path, `line ${torn.number} ${torn.reason}`);
    number += 1;
    const parsed = parseRecord(line);
    if (typeof parsed === 'string') torn = { number, reason: parsed };
    else yield parsed;
  }
}

/** The non-empty lines, including a last one without line end. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  const file = await openRegularFile(path);
  for await (const piece of file.createReadStream({ encoding: 'utf8', highWaterMark: 1 << 18 })) {
    const lines = (rest + String(piece)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield line;
  }
  if (rest !== '') yield rest;
}

/** The record, or the problem with the line in words (never its text). */
function parseRecord(line: string): RequestRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'is not JSON';
  }
  const record = withAbsentFields(value);
  return isRecord(record) ? record : 'is not a record';
}

/** A line of an earlier version lacks newer fields: they are unknown. */
function withAbsentFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return { ...ABSENT_FIELDS, ...value };
}

const ABSENT_FIELDS = Object.fromEntries(
  RECORD_COLUMNS.filter(({ nullable }) => nullable).map(({ name }) => [name, null]),
);

function isRecord(value: unknown): value is RequestRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  const wellTyped = RECORD_COLUMNS.every(({ name, kind, nullable }) => {
    const field = fields[name];
    return (nullable && field === null) || isOfKind(field, kind);
  });
  return (
    wellTyped &&
    isOneOf(PHASES, fields.phase) &&
    isOneOf(OUTCOMES, fields.outcome) &&
    (fields.reason === null || isOneOf(ERROR_REASONS, fields.reason))
  );
}

function isOfKind(value: unknown, kind: (typeof RECORD_COLUMNS)[number]['kind']): boolean {
  switch (kind) {
    case 'int64':
    case 'int32':
      return Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'string':
      return typeof value === 'string';
    case 'int64 list':
      return Array.isArray(value) && value.every(Number.isSafeInteger);
  }
}

function isOneOf(values: readonly string[], value: unknown): boolean {
  return typeof value === 'string' && values.includes(value);
}
