import type { Recognition } from '../importer.ts';
import type { SourceFile } from '../reading/source-file.ts';

export const RESULT = 'vllm-bench-serve';
export const SWEEP_SUMMARY = 'vllm-bench-sweep-summary';

/** Keys of every version, before the lists of the requests. */
const SIGNATURE = ['model_id', 'num_prompts', 'completed', 'request_throughput'] as const;

/** What of vLLM's a file is; null when it is none of it. */
export function recognizeVllm({ name, head }: Pick<SourceFile, 'name' | 'head'>): Recognition | null {
  const { keys, text, firstLine } = head;
  if (SIGNATURE.every((key) => keys.includes(key))) {
    return name === 'warmup.json' ? { format: RESULT, ignored: 'the warm-up of a sweep' } : { format: RESULT };
  }
  if (['error_type', 'serve_overrides'].every((key) => keys.includes(key))) {
    return { format: 'vllm-bench-sweep-failure', ignored: 'a benchmark of a sweep that failed' };
  }
  if (firstLine.includes('run_number') && SIGNATURE.every((key) => firstLine.split(',').includes(key))) {
    return { format: 'vllm-bench-sweep-table', ignored: 'it repeats the results next to it' };
  }
  if (!text.trimStart().startsWith('[')) return null;
  if (text.includes('"name": "vLLM benchmark"')) {
    return { format: 'vllm-pytorch-benchmark', ignored: 'it repeats the result next to it' };
  }
  return SIGNATURE.every((key) => text.includes(`"${key}":`)) ? { format: SWEEP_SUMMARY } : null;
}
