import { AIPERF } from './aiperf/aiperf.ts';
import { GENAI_BENCH } from './genai-bench/genai-bench.ts';
import { GENAI_PERF } from './genai-perf/genai-perf.ts';
import { GUIDELLM } from './guidellm/guidellm.ts';
import type { Importer } from './importer.ts';
import { INFERENCE_PERF } from './inference-perf/inference-perf.ts';
import { INFERENCEX } from './inferencex/inferencex.ts';
import { LLM_D } from './llm-d/llm-d.ts';
import { LLMPERF } from './llmperf/llmperf.ts';
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
