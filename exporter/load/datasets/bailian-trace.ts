import type { Dataset } from './dataset.ts';
import { requireCount } from './file-dataset.ts';
import { eachLine } from './input-lines.ts';
import { InputRow } from './row.ts';
import { BLOCK_TOKENS, hashIdsOf, traceDataset, type TraceOptions } from './trace-dataset.ts';
import { TraceRows } from './trace-rows.ts';

/**
 * `bailian_trace`: `{"chat_id", "parent_chat_id", "timestamp" (s), "input_length", "output_length", "type", "turn",
 * "hash_ids"}` per line, of github.com/alibaba-edu/qwen-bailian-usagetraces-anon. Each line is a request at its time; its
 * length and blocks include the earlier turns, so turns of a chat share their beginning. All types are sent as text.
 * Throws a `ConfigurationError`.
 */
export async function bailianTrace(options: TraceOptions): Promise<Dataset> {
  const { file } = options;
  const blockTokens = options.blockTokens ?? BLOCK_TOKENS.bailian_trace;
  const rows = new TraceRows();
  const sha256 = await eachLine(file, (line) => {
    const row = InputRow.parse(file, line);
    const inputTokens = row.tokens('input_length') ?? row.refuse('input_length is missing');
    const outputTokens = row.tokens('output_length') ?? row.refuse('output_length is missing');
    const due_s = row.seconds('timestamp') ?? row.refuse('timestamp is missing');
    const hashIds = hashIdsOf(row, inputTokens, blockTokens);
    rows.push({ due_ns: Math.round(due_s * 1e9), inputTokens, outputTokens, hashIds }, file);
  });
  requireCount(rows.count, file);
  return traceDataset({ type: 'bailian_trace', rows, sha256, blockTokens, untimed: allHaveTimes }, options);
}

function allHaveTimes(): never {
  throw new RangeError('every row has a time');
}
