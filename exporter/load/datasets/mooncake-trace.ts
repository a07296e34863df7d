import type { Dataset } from './dataset.ts';
import { requireCount } from './file-dataset.ts';
import { eachLine } from './input-lines.ts';
import { InputRow } from './row.ts';
import { BLOCK_TOKENS, hashIdsOf, traceDataset, type TraceOptions } from './trace-dataset.ts';
import { TraceRows } from './trace-rows.ts';

/**
 * `mooncake_trace`: `{"timestamp" (ms), "input_length", "output_length", "hash_ids"}` per line, or `text_input` instead
 * of length and ids. Each id stands for a block of tokens: requests that start with the same ids share their beginning.
 * Tokens beyond the blocks are unique to the request. Format: github.com/kvcache-ai/Mooncake, FAST25-release/traces.
 * Throws a `ConfigurationError`.
 */
export async function mooncakeTrace(options: TraceOptions): Promise<Dataset> {
  const { file } = options;
  const blockTokens = options.blockTokens ?? BLOCK_TOKENS.mooncake_trace;
  const rows = new TraceRows();
  const texts = new Map<number, string>();
  let untimed: InputRow | null = null;
  const sha256 = await eachLine(file, (line) => {
    const row = InputRow.parse(file, line);
    if (row.has('delay') || row.has('session_id'))
      row.refuse('delay and session_id require --custom-dataset-type multi_turn');
    const text = row.string('text_input');
    const inputTokens = row.tokens('input_length');
    if (text === null && inputTokens === null) row.refuse('input_length or text_input is required');
    if (text !== null && row.has('hash_ids') && row.integers('hash_ids')?.length !== 0)
      row.refuse('text_input and hash_ids cannot be used together');
    if (text !== null) texts.set(rows.count, text);
    const due_ms = row.milliseconds('timestamp');
    if (due_ms === null) untimed ??= row;
    const hashIds = hashIdsOf(row, inputTokens ?? 0, blockTokens);
    const due_ns = due_ms === null ? null : Math.round((due_ms / 1000) * 1e9);
    rows.push({ due_ns, inputTokens: inputTokens ?? 0, outputTokens: row.tokens('output_length'), hashIds }, file);
  });
  requireCount(rows.count, file);
  const refuse = (): never =>
    (untimed as unknown as InputRow).refuse('timestamp is missing, although other rows have one');
  return traceDataset({ type: 'mooncake_trace', rows, sha256, blockTokens, texts, untimed: refuse }, options);
}
