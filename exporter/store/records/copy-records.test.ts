import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestRecord } from '../../../core/run/record.ts';
import { SchemaVersionError } from '../../errors/expected-error.ts';
import { collect, exampleRecord } from '../fixtures/example-run.ts';
import { skipWithout } from '../../../core/testing/skip-without.ts';
import { SCHEMA_VERSIONS } from '../migrations/migrate.ts';
import { copyRecords } from './copy-records.ts';
import { readParquetRecords } from './read-records.ts';
import { ParquetRecordsWriter } from './records-parquet.ts';

/** Null: it has no binary for this platform. */
const duckDb = await import('@duckdb/node-api').catch(() => null);

let folder = '';
let from = '';
let to = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-copy-'));
  [from, to] = [join(folder, 'from.parquet'), join(folder, 'to.parquet')];
});
afterEach(() => rm(folder, { recursive: true }));

async function write(records: readonly RequestRecord[], schemaVersion?: number): Promise<void> {
  const writer = new ParquetRecordsWriter(from, schemaVersion === undefined ? {} : { schemaVersion });
  for (const record of records) await writer.append(record);
  await writer.close();
}

const LATER_NS = 250_000_007;

function later(record: RequestRecord): RequestRecord {
  const plus = (at_ns: number | null | undefined): number | null => (at_ns == null ? null : at_ns + LATER_NS);
  return {
    ...record,
    due_ns: plus(record.due_ns),
    sent_ns: record.sent_ns + LATER_NS,
    first_content_ns: plus(record.first_content_ns),
    first_output_ns: plus(record.first_output_ns),
    last_content_ns: plus(record.last_content_ns),
    end_ns: record.end_ns + LATER_NS,
    planned_ns: plus(record.planned_ns),
  };
}

const examples = (count: number, change: Partial<RequestRecord> = {}): RequestRecord[] =>
  Array.from({ length: count }, (_, index) => exampleRecord(index, change));

describe('instants are later, and all else is the same', () => {
  test.each([
    ['of a few records', examples(7)],
    // Its instants are numbers of a dictionary.
    ['of records that were sent at the same time', examples(3_000, { sent_ns: 5, end_ns: 9, due_ns: 5 })],
    // Before the run's zero, and beyond 32 bits.
    ['of records of a long time', examples(40, { due_ns: -3, sent_ns: 2 ** 33, end_ns: 2 ** 52 })],
    ['of several row groups', examples(20_000)],
    ['of long responses', examples(9, { chunk_offsets_ns: Array.from({ length: 60_000 }, (_, i) => i * 1_000) })],
    ['without records', []],
  ])('%s', async (_, records) => {
    await write(records);
    await copyRecords(from, to, LATER_NS);
    expect(await collect(readParquetRecords(to))).toEqual(records.map(later));
  });

  const byAnother = 'which another reader finds by the statistics of the columns';
  if (duckDb === null) skipWithout(byAnother, 'DuckDB has no binary for this platform');
  else
    test(byAnother, async () => {
      const model = 'a-model-with-a-name-longer-than-statistics-are';
      await write(examples(20_000, { model }));
      await copyRecords(from, to, LATER_NS);
      const database = await (await duckDb.DuckDBInstance.create()).connect();
      const found = await database.runAndReadAll(
        `SELECT count(*), min(sent_ns), max(end_ns), sum(len(chunk_offsets_ns)), min(model) FROM '${to}'
       WHERE sent_ns >= ${LATER_NS} AND end_ns <= ${9_999 * 100_000_000 + 99_000_000 + LATER_NS} AND model = '${model}'`,
      );
      expect(found.getRows()).toEqual([
        [20_000n, BigInt(LATER_NS), BigInt(9_999 * 100_000_000 + 99_000_000 + LATER_NS), 48_000n, model],
      ]);
    });
});

test('records that stay at their time are the same file', async () => {
  await write(examples(5));
  await copyRecords(from, to, 0);
  expect(await readFile(to)).toEqual(await readFile(from));
});

test('records of a later version are refused', async () => {
  await write(examples(5), SCHEMA_VERSIONS.record + 1);
  await expect(copyRecords(from, to, LATER_NS)).rejects.toThrow(SchemaVersionError);
});
