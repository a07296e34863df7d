import type { Recognition } from '../importer.ts';
import type { SourceFile } from '../reading/source-file.ts';

export const REPORT = 'trtllm-bench-report';
export const REQUESTS = 'trtllm-bench-requests';
export const ITERATIONS = 'trtllm-bench-iteration-log';

/** What of trtllm-bench's a file is; null when it is none of it. */
export function recognizeTrtllm({ head: { keys, text, firstLine } }: Pick<SourceFile, 'head'>): Recognition | null {
  const has = (...names: readonly string[]): boolean => names.every((name) => keys.includes(name));
  if (has('engine', 'world_info', 'performance')) return { format: REPORT };
  const start = text.trimStart();
  const requestKeys = ['num_input_tokens', 'first_token_timestamp', 'decode_iteration'];
  if (start.startsWith('[') && requestKeys.every((key) => text.includes(`"${key}"`))) return { format: REQUESTS };
  // The log's lines are Python's, with single quotes; what is rewritten as JSON is taken too.
  const isIteration = /['"]iterLatencyMS['"]\s*:/.test(firstLine) && /['"]iter['"]\s*:/.test(firstLine);
  return start.startsWith('{') && isIteration ? { format: ITERATIONS } : null;
}
