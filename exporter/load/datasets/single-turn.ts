import type { Dataset } from './dataset.ts';
import { fileDataset, longestOutput, textRequest, requireEntries } from './file-dataset.ts';
import type { FileDatasetOptions } from './file-dataset.ts';
import { readLines } from './input-lines.ts';
import { InputRow } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';
import { dueTimes_ns, textRow } from './text-rows.ts';

/** `single_turn`: a JSON object per line with a `text`. Throws a `ConfigurationError`. */
export async function singleTurn(options: FileDatasetOptions): Promise<Dataset> {
  const { texts, sha256 } = await readLines(options.file);
  const rows = requireEntries(texts, options.file).map((text) => {
    const row = InputRow.parse(options.file, text);
    if (row.has('delay')) row.refuse('delay requires --custom-dataset-type multi_turn');
    return { row, ...textRow(row) };
  });
  // The times are meaningful only in file order.
  const due_ns = options.strategy === 'sequential' ? dueTimes_ns(rows) : undefined;
  const entries = rows.map(({ text, outputTokens }) => ({ text, outputTokens }));
  const dataset = fileDataset(
    'single_turn',
    { entries, sha256 },
    options,
    ({ text, outputTokens }) =>
      textRequest(text, outputTokens ?? options.outputTokens ?? DEFAULT_OUTPUT_TOKENS, options.tokenizer),
    longestOutput(
      entries.map(({ outputTokens }) => outputTokens),
      options,
    ),
  );
  return due_ns === undefined ? dataset : { ...dataset, due_ns };
}
