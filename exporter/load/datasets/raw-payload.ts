import type { Dataset } from './dataset.ts';
import { fileDataset, longestOutput, requireEntries } from './file-dataset.ts';
import type { FileDatasetOptions } from './file-dataset.ts';
import { readLines } from './input-lines.ts';
import { InputRow } from './row.ts';
import { DEFAULT_OUTPUT_TOKENS } from './synthetic-dataset.ts';

/** Names of the field that limits the output length in the bodies of the known APIs. */
const LENGTH_KEYS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;

/**
 * `raw_payload`: each line is the body of a request, sent unchanged except for what the run sets (streaming, usage) and
 * what is missing (model, length). Throws a `ConfigurationError`.
 */
export async function rawPayload(options: FileDatasetOptions): Promise<Dataset> {
  const { texts, sha256 } = await readLines(options.file);
  const entries = requireEntries(texts, options.file).map((text) => {
    const row = InputRow.parse(options.file, text);
    const several = ['n', 'best_of'].find((key) => row.has(key) && row.json[key] !== 1);
    if (several !== undefined)
      row.refuse(`${several} must be 1: responses with several choices have no inter-token latency`);
    const reported = LENGTH_KEYS.map((key) => row.tokens(key)).find((tokens) => tokens !== null);
    return { payload: row.json, max_tokens: reported ?? options.outputTokens ?? DEFAULT_OUTPUT_TOKENS };
  });
  return fileDataset(
    'raw_payload',
    { entries, sha256 },
    options,
    ({ payload, max_tokens }) => ({
      prompt: '',
      max_tokens,
      payload,
    }),
    longestOutput(
      entries.map(({ max_tokens }) => max_tokens),
      options,
    ),
  );
}
