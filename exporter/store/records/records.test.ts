import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parquetMetadataAsync, asyncBufferFromFile } from 'hyparquet';
import { ERROR_REASONS, OUTCOMES, PHASES } from '../../../core/run/record.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { collect, exampleRecord } from '../fixtures/example-run.ts';
import { readJsonlRecords, JsonlRecordsWriter, recordLine } from './records-jsonl.ts';
import { readParquetRecords } from './read-records.ts';
import { ParquetRecordsWriter } from './records-parquet.ts';
import { DamagedRunError } from '../../errors/expected-error.ts';
import { until } from '../../../core/testing/until.ts';

let directory: string;
let jsonl: string;
let parquet: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-records-'));
  jsonl = join(directory, '0.jsonl');
  parquet = join(directory, '0.parquet');
});

afterEach(() => rm(directory, { recursive: true }));

async function writeJsonl(records: readonly RequestRecord[]): Promise<void> {
  await rm(jsonl, { force: true });
  const writer = await JsonlRecordsWriter.create(jsonl);
  for (const record of records) writer.append(record);
  await writer.close();
}

async function writeParquet(records: Iterable<RequestRecord>, columns: 'all' | 'with values' = 'all'): Promise<void> {
  const writer = new ParquetRecordsWriter(parquet, { columns });
  for (const record of records) await writer.append(record);
  await writer.close();
}

const examples = Array.from({ length: 12 }, (_, index) => exampleRecord(index));

describe('JSONL', () => {
  test('appended records are read back in order', async () => {
    await writeJsonl(examples);
    expect(await collect(readJsonlRecords(jsonl))).toEqual(examples);
  });

  test('a line contains the known values', async () => {
    await writeJsonl([exampleRecord(4)]);
    const line = JSON.parse(await readFile(jsonl, 'utf8')) as Record<string, unknown>;
    expect(line).toMatchObject({ index: 4, outcome: 'error', reason: 'http_5xx', http_status: 503 });
    expect(Object.values(line)).not.toContain(null);
  });

  test('no records', async () => {
    await writeJsonl([]);
    expect(await collect(readJsonlRecords(jsonl))).toEqual([]);
  });

  test('flush writes all appended records', async () => {
    const writer = await JsonlRecordsWriter.create(jsonl);
    writer.append(exampleRecord(1));
    await writer.flush();
    expect(await collect(readJsonlRecords(jsonl))).toEqual([exampleRecord(1)]);
    await writer.close();
  });

  test('lines that arrive during writes keep their order and their bytes', async () => {
    const writer = await JsonlRecordsWriter.create(jsonl);
    const records = Array.from({ length: 3_000 }, (_, i) => exampleRecord(i));
    for (const [i, record] of records.entries()) {
      writer.append(record);
      if (i % 7 === 0) void writer.flush();
      if (i % 50 === 0) await writer.flush();
    }
    await writer.close();
    expect(await collect(readJsonlRecords(jsonl))).toEqual(records);
  });

  test('lines that fill several blocks while earlier ones are being written keep their order and their bytes', async () => {
    const writer = await JsonlRecordsWriter.create(jsonl);
    const lines: string[] = [];
    for (const linesInTurn of [200, 900, 30, 2_000, 700, 700, 1_500, 3, 900]) {
      for (let i = 0; i < linesInTurn; i++) {
        const record = exampleRecord(lines.length);
        lines.push(`${recordLine(record)}\n`);
        writer.append(record);
      }
      void writer.flush();
      for (let turn = 0; turn < 3; turn++) await nextTurn();
    }
    await writer.close();
    expect(await readFile(jsonl, 'utf8')).toBe(lines.join(''));
  });

  test('without a flush lines are written automatically', async () => {
    const writer = await JsonlRecordsWriter.create(jsonl);
    writer.append(exampleRecord(1));
    // Waits without a limit of its own; the test's timeout is the bound.
    await until(async () => (await readFile(jsonl, 'utf8')) !== '');
    expect(await collect(readJsonlRecords(jsonl))).toEqual([exampleRecord(1)]);
    await writer.close();
  });

  test('truncated at any byte, all complete records are read', async () => {
    await writeJsonl(examples.slice(0, 3));
    const { length } = await readFile(jsonl);
    const [first = '', second = ''] = (await readFile(jsonl, 'utf8')).split('\n');
    for (let bytes = length - 1; bytes > 0; bytes -= 37) {
      await truncate(jsonl, bytes);
      // The record before a line's end is whole also without it.
      const whole = [first.length, first.length + 1 + second.length, length - 1].filter((end) => end <= bytes).length;
      expect(await collect(readJsonlRecords(jsonl))).toEqual(examples.slice(0, whole));
    }
  });

  test('trailing zeros, as after a power failure, are a truncated line', async () => {
    await writeJsonl(examples);
    await appendFile(jsonl, Buffer.alloc(4096));
    expect(await collect(readJsonlRecords(jsonl))).toEqual(examples);
  });

  test.each([
    ['is not JSON', '{"index": 1'],
    ['is not a record', '{"index": 1}'],
    ['is not a record', JSON.stringify({ ...exampleRecord(1), outcome: 'fine' })],
    ['is not a record', JSON.stringify({ ...exampleRecord(1), sent_ns: 0.5 })],
    ['is not a record', JSON.stringify({ ...exampleRecord(1), chunk_offsets_ns: ['1'] })],
  ])('a line in the middle that %s is an error with its number', async (reason, line) => {
    const good = JSON.stringify(exampleRecord(0));
    await writeFile(jsonl, `${good}\n${line}\n${good}\n`);
    const reading = collect(readJsonlRecords(jsonl));
    await expect(reading).rejects.toThrow(DamagedRunError);
    await expect(reading).rejects.toThrow(`line 2 ${reason}`);
  });

  test('the buffer for a slow disk is bounded: writing ends, and close reports it', async () => {
    await writeJsonl([exampleRecord(1)]);
    const line = await readFile(jsonl, 'utf8');
    await rm(jsonl);
    const writer = await JsonlRecordsWriter.create(jsonl, line.length * 2);
    for (let i = 0; i < 5; i++) writer.append(exampleRecord(1));
    expect(writer.error?.message).toContain('the disk is too slow');
    expect(writer.lost).toBe(3);
    await expect(writer.close()).rejects.toThrow('the disk is too slow');
    expect(await readFile(jsonl, 'utf8')).toBe(line.repeat(2));
  });
});

describe('Parquet', () => {
  const columnsOf = async (path: string): Promise<string[]> => {
    const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(path));
    return schema.map(({ name }) => name).filter((name) => !['record', 'list', 'element'].includes(name));
  };

  test('returns the same records as JSONL, for any records', async () => {
    const ns = fc.maxSafeNat();
    const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });
    const tokens = fc.nat();
    const source = orNull(fc.constantFrom('usage' as const, 'tokenizer' as const));
    const record = fc.record<RequestRecord>({
      index: fc.nat(),
      phase: fc.constantFrom(...PHASES),
      stage: fc.option(fc.integer({ min: 1, max: 50 })),
      model: fc.option(fc.string()),
      due_ns: fc.maxSafeInteger(),
      sent_ns: ns,
      first_content_ns: orNull(ns),
      first_output_ns: orNull(ns),
      last_content_ns: orNull(ns),
      end_ns: ns,
      connection_reused: orNull(fc.boolean()),
      connect_ns: orNull(ns),
      tcp_connect_ns: orNull(ns),
      conversation: orNull(fc.nat()),
      turn: orNull(fc.integer({ min: 1, max: 2 ** 31 - 1 })),
      agent: orNull(fc.integer({ min: 1, max: 2 ** 31 - 1 })),
      conversation_requests: orNull(fc.integer({ min: 1, max: 2 ** 31 - 1 })),
      think_ns: orNull(fc.nat()),
      tool_ns: orNull(fc.nat()),
      planned_ns: orNull(fc.maxSafeInteger()),
      connection_retried: orNull(fc.boolean()),
      outcome: fc.constantFrom(...OUTCOMES),
      reason: orNull(fc.constantFrom(...ERROR_REASONS)),
      http_status: orNull(fc.integer({ min: 100, max: 999 })),
      input_tokens: orNull(tokens),
      input_tokens_source: source,
      output_tokens: orNull(tokens),
      output_tokens_source: source,
      reasoning_tokens: orNull(tokens),
      cached_tokens: orNull(tokens),
      requested_output_tokens: tokens,
      image_tokens: orNull(tokens),
      audio_tokens: orNull(tokens),
      documents: orNull(tokens),
      images: orNull(tokens),
      image_bytes: orNull(ns),
      audio_ns: orNull(ns),
      audio_bytes: orNull(ns),
      request_bytes: orNull(ns),
      trace_id: orNull(fc.stringMatching(/^[0-9a-f]{32}$/)),
      counted_input_tokens: orNull(tokens),
      counted_output_tokens: orNull(tokens),
      counted_reasoning_tokens: orNull(tokens),
      chunk_offsets_ns: fc.array(ns, { maxLength: 30 }),
      http_blocked_ns: orNull(ns),
      http_dns_lookup_ns: orNull(ns),
      http_connecting_ns: orNull(ns),
      http_tls_handshaking_ns: orNull(ns),
      http_sending_ns: orNull(ns),
      http_waiting_ns: orNull(ns),
      http_receiving_ns: orNull(ns),
      http_data_sent_bytes: orNull(ns),
      http_data_received_bytes: orNull(ns),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 40 }), async (records) => {
        await writeJsonl(records);
        await writeParquet(records);
        const fromParquet = await collect(readParquetRecords(parquet));
        expect(fromParquet).toEqual(records);
        expect(fromParquet).toEqual(await collect(readJsonlRecords(jsonl)));
      }),
      { numRuns: 25 },
    );
  });

  test('the columns are the keys of a record, compressed with zstd', async () => {
    await writeParquet(examples);
    const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(parquet));
    expect(await columnsOf(parquet)).toEqual(Object.keys(exampleRecord(0)));
    expect(new Set(row_groups.flatMap(({ columns }) => columns.map(({ meta_data }) => meta_data?.codec)))).toEqual(
      new Set(['ZSTD']),
    );
  });

  test('columns without values can be left out, and are read as null', async () => {
    const records = Array.from({ length: 12 }, (_, index) =>
      exampleRecord(index, { connect_ns: null, http_status: null }),
    );
    await writeParquet(records, 'with values');
    const columns = await columnsOf(parquet);
    const names = Object.keys(exampleRecord(0)) as (keyof RequestRecord)[];
    expect(columns).toEqual(
      names.filter((name) => name === 'http_status' || records.some((record) => record[name] !== null)),
    );
    expect(columns).not.toContain('connect_ns');
    // Each fifth example fails.
    expect(columns).toContain('reason');
    expect(await collect(readParquetRecords(parquet))).toEqual(records);
  });

  test('a file of several row groups has all columns', async () => {
    const chunk_offsets_ns = Array.from({ length: 60_000 }, (_, i) => i * 1000);
    const records = Array.from({ length: 3 }, (_, index) =>
      exampleRecord(index, { chunk_offsets_ns, turn: index < 2 ? null : 1 }),
    );
    await writeParquet(records, 'with values');
    expect(await columnsOf(parquet)).toEqual(Object.keys(exampleRecord(0)));
    expect((await collect(readParquetRecords(parquet))).map(({ turn }) => turn)).toEqual([null, null, 1]);
  });

  test('long lists end a row group early', async () => {
    const chunk_offsets_ns = Array.from({ length: 40_000 }, (_, i) => i * 1000);
    await writeParquet(Array.from({ length: 7 }, (_, index) => exampleRecord(index, { chunk_offsets_ns })));
    const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(parquet));
    // 100,000 chunks to a group: three records of 40,000 pass it.
    expect(row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([3, 3, 1]);
    const indices = (await collect(readParquetRecords(parquet))).map(({ index }) => index);
    expect(indices).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});
