import { AIPERF } from './aiperf/aiperf.ts';
import { GENAI_BENCH } from './genai-bench/genai-bench.ts';
import { GENAI_PERF } from './genai-perf/genai-perf.ts';
import { GUIDELLM } from './guidellm/guidellm.ts';
import type { Importer } from './importer.ts';
import { INFERENCE_PERF } from './inference-perf/inference-perf.ts';
import { INFERENCEX } from './inferencex/inferencex.ts';
import { LLM_D } from './llm-d/llm-d.ts';
import { LLMPERF } from './llmperf/llmperf.ts';
import type { SourceFile } from './reading/source-file.ts';
import { SGLANG } from './sglang/sglang.ts';
import { TRTLLM } from './trtllm/trtllm.ts';
import { VLLM } from './vllm/vllm.ts';

/** Every importer, in the order in which they are tried on a file. */
export const IMPORTERS: readonly Importer[] = [
  AIPERF,
  GENAI_PERF,
  VLLM,
  INFERENCEX,
  SGLANG,
  TRTLLM,
  GUIDELLM,
  // Before llm-d's: it writes parts of that report next to its own.
  INFERENCE_PERF,
  LLM_D,
  GENAI_BENCH,
  LLMPERF,
];

/** A tool whose results are recognized and cannot be imported. */
export interface UnsupportedTool {
  readonly tool: string;
  /** Why, and what to do, in one line. */
  readonly reason: string;
}

type Look = Pick<SourceFile['head'], 'keys' | 'firstLine' | 'firstObject' | 'text'>;

const TOOLS: readonly (UnsupportedTool & { readonly writes: (head: Look) => boolean })[] = [
  {
    tool: 'k6',
    reason:
      'a result of k6 cannot be imported: it measures HTTP requests, not tokens; load the server with llmbench run, or with ' +
      'a tool that reports time to first token',
    writes: ({ keys, firstLine, firstObject }) =>
      (keys.includes('root_group') && keys.includes('metrics')) ||
      (firstObject !== null && ['Metric', 'Point'].includes(String(firstObject['type'])) && 'metric' in firstObject) ||
      firstLine.startsWith('metric_name,timestamp,metric_value'),
  },
  {
    tool: 'locust',
    reason:
      'statistics of Locust cannot be imported: they hold no time to first token and no tokens; write one row per request ' +
      'from an event listener and import that with --mapping',
    writes: ({ firstLine, text }) =>
      /^"?Type"?,"?Name"?,"?Request Count"?,"?Failure Count"?/.test(firstLine) ||
      /^"?Timestamp"?,"?User Count"?,"?Type"?,"?Name"?/.test(firstLine) ||
      /^"?(Method"?,"?Name"?,"?Error"?,"?Occurrences|Count"?,"?Message"?,"?Traceback)/.test(firstLine) ||
      (/^\s*\[\s*\{/.test(text) && /"num_requests"\s*:/.test(text) && /"response_times"\s*:/.test(text)),
  },
];

/** The tool that wrote the file, when it is one that llmbench knows and cannot import; null otherwise. */
export function unsupportedTool({ head }: Pick<SourceFile, 'head'>): UnsupportedTool | null {
  return TOOLS.find(({ writes }) => writes(head)) ?? null;
}
