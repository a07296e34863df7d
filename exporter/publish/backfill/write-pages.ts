import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../files/durable-file.ts';
import { outputFile } from '../../files/output-file.ts';
import { besideOutput } from '../../files/output-temporary.ts';
import { OpenMetricsPages, PAGE_MS, type BackfillPage } from './openmetrics-pages.ts';
import type { BackfillPart } from './backfill-part.ts';

/** Where the pages go: a folder gets one file for each two hours, a file or a stream gets one page. */
export type BackfillOutput =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'stream'; write(text: string): void };

/**
 * Writes parts, which come in the order of their start, as OpenMetrics with times; gives the files that were written, each
 * of which exists only when it is complete.
 * Throws the file system's error.
 */
export async function writePages(
  parts: AsyncIterable<BackfillPart>,
  output: BackfillOutput,
): Promise<readonly string[]> {
  const pages = new OpenMetricsPages(output.kind === 'folder' ? PAGE_MS : Infinity);
  const written: string[] = [];
  const write = async (page: BackfillPage): Promise<void> => {
    const path = await writePage(page, output);
    if (path !== null) written.push(path);
  };
  if (output.kind === 'folder') await mkdir(output.path, { recursive: true });
  let any = false;
  for await (const { series, start_ms } of parts) {
    // No later part has a sample before this one's start.
    for (const page of pages.takeUntil(start_ms)) await write(page);
    series.forEach((each) => pages.add(each));
    any = true;
  }
  if (any) for (const page of pages.takeUntil(Infinity)) await write(page);
  return written;
}

async function writePage({ start_ms, text }: BackfillPage, output: BackfillOutput): Promise<string | null> {
  if (output.kind === 'stream') {
    output.write(text);
    return null;
  }
  const path = output.kind === 'file' ? output.path : join(output.path, `${fileTime(start_ms)}.openmetrics`);
  const target = await outputFile(path);
  if (target.replaceable) await replaceFile(target.path, text, besideOutput);
  else await writeFile(target.path, text);
  return path;
}

/** Such as `20261121T2200Z`. */
const fileTime = (time_ms: number): string =>
  `${new Date(time_ms).toISOString().slice(0, 16).replaceAll(/[-:]/g, '')}Z`;
