import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { seededRandom } from '../../../core/stats/seeded-random.ts';
import type { Dataset } from './dataset.ts';
import { filePlanSha256, longestOutput, textRequest, requireEntries } from './file-dataset.ts';
import type { FileDatasetOptions } from './file-dataset.ts';
import { readLines } from './input-lines.ts';
import { InputRow } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';
import { textRow } from './text-rows.ts';
import type { TextRow } from './text-rows.ts';

/**
 * `random_pool`: each request takes a random row of a file, or one row of each file in a folder, in the order of the
 * files' names and joined by a line break. Throws a `ConfigurationError`.
 */
export async function randomPool(options: FileDatasetOptions): Promise<Dataset> {
  const files = await poolFiles(options.file);
  const pools: (readonly TextRow[])[] = [];
  const hash = createHash('sha256');
  for (const file of files) {
    const { texts, sha256 } = await readLines(file);
    pools.push(requireEntries(texts, file).map((text) => textRow(InputRow.parse(file, text))));
    hash.update(sha256);
  }
  const fileSha256 = hash.digest('hex');
  return {
    planSha256: filePlanSha256('random_pool', fileSha256, options, { seeded: 1 }),
    fileSha256,
    size: null,
    longestOutputTokens: longestOutput(
      pools.flat().map(({ outputTokens }) => outputTokens),
      options,
    ),
    request(phase, position) {
      const random = seededRandom(`${options.seed}/${phase}/${position}/entry`);
      const rows = pools.map((pool) => pool[Math.floor(random() * pool.length)] as TextRow);
      const outputTokens = rows.find((row) => row.outputTokens !== null)?.outputTokens;
      const text = rows.map((row) => row.text).join('\n');
      return textRequest(text, outputTokens ?? options.outputTokens ?? DEFAULT_OUTPUT_TOKENS, options.tokenizer);
    },
  };
}

async function poolFiles(path: string): Promise<readonly string[]> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return [path];
  const names = (await readdir(path)).filter((name) => name.endsWith('.jsonl')).sort();
  return requireEntries(names, path).map((name) => join(path, name));
}
