import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { replaceFile, replaceWhenWritten } from '../../../files/durable-file.ts';
import { besideOutput } from '../../../files/output-temporary.ts';
import type { Collection } from '../../collection.ts';
import type { ExportInfo } from './export-info.ts';
import { serverMetricsCsv } from './server-metrics-csv.ts';
import { serverMetricsJson } from './server-metrics-json.ts';
import { serverMetricsLines } from './server-metrics-jsonl.ts';
import { writeServerMetricsParquet } from './server-metrics-parquet.ts';

export const EXPORT_FORMATS = ['json', 'csv', 'jsonl', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/**
 * Writes AIPerf's files `server_metrics_export.<format>` into a directory and returns their paths; an empty Parquet
 * file is not written. Throws file system errors.
 */
export async function writeExports(
  directory: string,
  formats: readonly ExportFormat[],
  collection: Collection,
  info: ExportInfo,
): Promise<string[]> {
  const written: string[] = [];
  for (const format of EXPORT_FORMATS.filter((each) => formats.includes(each))) {
    const path = join(directory, `server_metrics_export.${format}`);
    if (await write(format, path, collection, info)) written.push(path);
  }
  return written;
}

async function write(format: ExportFormat, path: string, collection: Collection, info: ExportInfo): Promise<boolean> {
  switch (format) {
    case 'json':
      await replaceFile(path, serverMetricsJson(collection, info), besideOutput);
      return true;
    case 'csv':
      await replaceFile(path, serverMetricsCsv(collection, info), besideOutput);
      return true;
    case 'jsonl':
      await replaceWhenWritten(path, (temporary) => writeLines(temporary, serverMetricsLines(collection)));
      return true;
    case 'parquet':
      return writeServerMetricsParquet(path, collection, info);
  }
}

async function writeLines(path: string, lines: Iterable<string>): Promise<void> {
  const stream = createWriteStream(path);
  for (const line of lines) if (!stream.write(line)) await once(stream, 'drain');
  stream.end();
  await finished(stream);
}
