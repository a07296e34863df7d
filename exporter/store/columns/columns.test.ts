import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RequestRecord } from '../../../core/run/record.ts';
import { exampleRecord } from '../fixtures/example-run.ts';
import { ParquetRecordsWriter } from '../records-parquet.ts';
import { DamagedRunError } from '../store-errors.ts';
import { differencePercentiles } from './difference-percentiles.ts';
import { readInt64Columns } from './read-int64-columns.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-columns-'));
});
afterAll(() => rm(directory, { recursive: true }));

let files = 0;
async function written(records: readonly RequestRecord[]): Promise<string> {
  const path = join(directory, `${files++}.parquet`);
  const parquet = new ParquetRecordsWriter(path);
  for (const record of records) await parquet.append(record);
  await parquet.close();
  return path;
}

const NAMES = ['sent_ns', 'first_content_ns', 'connect_ns'] as const;

describe('columns', () => {
  test('are what was written, NaN for null', async () => {
    const times = fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 });
    const nullable = fc.option(times);
    const record = fc.record({ sent_ns: times, first_content_ns: nullable, connect_ns: nullable });
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 300 }), async (changes) => {
        const path = await written(changes.map((change, i) => exampleRecord(i, change)));
        const columns = await readInt64Columns(path, NAMES);
        for (const name of NAMES) expect([...columns[name]]).toEqual(changes.map((change) => change[name] ?? NaN));
      }),
      { numRuns: 30 },
    );
  });

  test('of many pages and row groups', async () => {
    // Three chunks a request and 100,000 a row group; long runs of nulls and of values.
    const count = 70_000;
    const first = (i: number): number | null => (Math.floor(i / 1000) % 3 === 0 ? null : i * 1000);
    const path = await written(
      Array.from({ length: count }, (_, i) => exampleRecord(i, { first_content_ns: first(i) })),
    );
    const { first_content_ns } = await readInt64Columns(path, ['first_content_ns']);
    expect(first_content_ns).toHaveLength(count);
    expect(first_content_ns.every((value, i) => Object.is(value, first(i) ?? NaN))).toBe(true);
  });

  test('that the file does not have are null, others than times are refused', async () => {
    const path = await written([exampleRecord(0)]);
    expect(await readInt64Columns(path, ['later_ns'])).toEqual({ later_ns: Float64Array.of(NaN) });
    await expect(readInt64Columns(path, ['outcome'])).rejects.toThrow(DamagedRunError);
  });
});

describe('percentiles of differences', () => {
  test('linear between order statistics, over the rows that have both', () => {
    const end = Float64Array.of(14, NaN, 11, 13, 12, 99);
    const begin = Float64Array.of(10, 10, 10, 10, 10, NaN);
    // 1, 2, 3, 4: numpy.percentile([1, 2, 3, 4], [0, 50, 90, 100]).
    expect(differencePercentiles(end, begin, [0, 0.5, 0.9, 1])).toEqual({
      n: 4,
      percentiles: [1, 2.5, expect.closeTo(3.7, 12), 4],
    });
    expect(differencePercentiles(Float64Array.of(NaN), Float64Array.of(1), [0.5])).toEqual({
      n: 0,
      percentiles: [NaN],
    });
    expect(differencePercentiles(Float64Array.of(3), Float64Array.of(1), [0.5, 0.99])).toEqual({
      n: 1,
      percentiles: [2, 2],
    });
  });
});
