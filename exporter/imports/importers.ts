import { AIPERF } from './aiperf/aiperf.ts';
import { GENAI_PERF } from './genai-perf/genai-perf.ts';
import { GUIDELLM } from './guidellm/guidellm.ts';
import type { Importer } from './importer.ts';
import { SGLANG } from './sglang/sglang.ts';
import { TRTLLM } from './trtllm/trtllm.ts';
import { VLLM } from './vllm/vllm.ts';

/** Every importer, in the order in which they are asked whether a file is theirs. */
export const IMPORTERS: readonly Importer[] = [AIPERF, GENAI_PERF, VLLM, SGLANG, TRTLLM, GUIDELLM];
