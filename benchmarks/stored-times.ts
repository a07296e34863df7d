import { zstdCompressSync } from 'node:zlib';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { columnSchema } from '../exporter/store/records/parquet-column.ts';
import { seededRandom } from '../core/stats/seeded-random.ts';

const ROWS_PER_GROUP = 100_000;
/** One request in so many failed and has no content. */
const FAILED_EVERY = 50;
const NS = { gap: 200_000, wait: 3_000_000, toFirst: 80_000_000, decode: 2_000_000_000, rest: 100_000 };

const COLUMNS = ['due_ns', 'sent_ns', 'first_content_ns', 'last_content_ns', 'end_ns'] as const;

/** Writes the times of so many requests as the store writes them: the same columns, row groups, pages and compression. */
export async function makeStoredTimes(path: string, requests: number): Promise<void> {
  const parquet = new ParquetWriter({
    writer: fileWriter(path),
    schema: [
      { name: 'record', num_children: COLUMNS.length },
      ...COLUMNS.flatMap((name) => columnSchema(name, 'int64', name !== 'sent_ns' && name !== 'end_ns')),
    ],
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: 'llmbench',
  });
  const random = seededRandom('stored times');
  const exponential = (mean: number): number => -Math.log(1 - random()) * mean;
  let due = 0;
  for (let row = 0; row < requests; row += ROWS_PER_GROUP) {
    const data: (bigint | null)[][] = COLUMNS.map(() => []);
    const rows = Math.min(ROWS_PER_GROUP, requests - row);
    for (let i = 0; i < rows; i++) {
      due += exponential(NS.gap);
      const sent = due + exponential(NS.wait);
      const first = sent + exponential(NS.toFirst);
      const last = first + exponential(NS.decode);
      const failed = (row + i) % FAILED_EVERY === 0;
      const times = [due, sent, failed ? null : first, failed ? null : last, last + exponential(NS.rest)];
      times.forEach((time, column) => data[column]?.push(time === null ? null : BigInt(Math.round(time))));
    }
    await parquet.write({
      columnData: COLUMNS.map((name, column) => ({ name, data: data[column] ?? [] })),
      rowGroupSize: rows,
    });
  }
  await parquet.finish();
}
