import type { EngineState, EngineEvent, RequestProgress, StepEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN, MODEL_BYTES } from '../kv-bytes.ts';
import type { PageFamilies } from '../metrics/page-families.ts';
import type { Histogram } from '../metrics/family.ts';

/** Label that distinguishes the values of one family. */
const KINDS = {
  nv_trt_llm_request_metrics: 'request_type',
  nv_trt_llm_runtime_memory_metrics: 'memory_type',
  nv_trt_llm_kv_cache_block_metrics: 'kv_cache_block_type',
  nv_trt_llm_inflight_batcher_metrics: 'inflight_batcher_specific_metric',
  nv_trt_llm_v1_metrics: 'v1_specific_metric',
  nv_trt_llm_general_metrics: 'general_type',
} as const;
type GaugeFamily = keyof typeof KINDS;

const CPU_BYTES = 1.2e9;
const PINNED_BYTES = 64e6;

/** The families that Triton's TensorRT-LLM backend adds: a snapshot of the last iteration, and lengths per request. */
export class TrtllmBackendMetrics {
  readonly #families: PageFamilies;
  readonly #labels: { readonly model: string; readonly version: string };
  readonly #parameters: EngineParameters;
  readonly #wallMicroseconds: () => number;
  readonly #inputLength: Histogram;
  readonly #outputLength: Histogram;
  #iterations = 0;
  #iterationAt_us: number;
  #lastStep: StepEvent | null = null;
  /** Requests that were preempted and wait to be taken in again. */
  readonly #paused = new Set<string>();
  #reusedBlocks = 0;

  /** @param wallMicroseconds the present as Unix time */
  constructor(families: PageFamilies, model: string, parameters: EngineParameters, wallMicroseconds: () => number) {
    this.#families = families;
    this.#labels = { model, version: '1' };
    this.#parameters = parameters;
    this.#wallMicroseconds = wallMicroseconds;
    this.#iterationAt_us = wallMicroseconds();
    const length = (name: string, kind: string): Histogram =>
      families.histogram(name).series({ ...this.#labels, response_metric_type: kind });
    this.#inputLength = length('nv_llm_input_token_len', 'total_input_tokens');
    this.#outputLength = length('nv_llm_output_token_len', 'total_output_tokens');
    const disaggregated = families.counter('nv_trt_llm_disaggregated_serving_metrics');
    for (const kind of ['kv_cache_transfer_ms', 'request_count']) {
      disaggregated.series({ ...this.#labels, disaggregated_serving_type: kind });
    }
    for (const kind of ['total_context_tokens', 'total_generation_tokens', 'empty_generation_slots']) {
      this.#set('nv_trt_llm_v1_metrics', kind, 0);
    }
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'step') this.#endIteration(event);
      else if (event.kind === 'preempted') this.#paused.add(event.request.id);
      else if (event.kind === 'scheduled') this.#scheduled(event.request, event.resumed);
      else if (event.kind === 'aborted') this.#paused.delete(event.request.id);
      else if (event.kind === 'finished') this.#finished(event.request);
    }
  }

  update({ running, waiting, usedKvBlocks, numKvBlocks }: EngineState): void {
    const { maxNumSeqs, blockSize } = this.#parameters;
    const busy = running > 0 ? this.#lastStep : null;
    const decoding = busy?.decoding ?? 0;
    this.#setAll('nv_trt_llm_request_metrics', {
      active: running + waiting,
      max: maxNumSeqs,
      scheduled: running,
      context: Math.max(0, (busy?.sequences ?? 0) - decoding),
      waiting,
    });
    this.#setAll('nv_trt_llm_runtime_memory_metrics', {
      cpu: CPU_BYTES,
      gpu: MODEL_BYTES + numKvBlocks * blockSize * KV_BYTES_PER_TOKEN,
      pinned: PINNED_BYTES,
    });
    this.#setAll('nv_trt_llm_kv_cache_block_metrics', {
      max: numKvBlocks,
      free: numKvBlocks - usedKvBlocks,
      used: usedKvBlocks,
      tokens_per: blockSize,
      reused: this.#reusedBlocks,
      fraction: usedKvBlocks / numKvBlocks,
    });
    this.#setAll('nv_trt_llm_inflight_batcher_metrics', {
      total_context_tokens: busy?.prefillTokens ?? 0,
      generation_requests: decoding,
      micro_batch_id: 0,
      paused_requests: this.#paused.size,
    });
    this.#setAll('nv_trt_llm_general_metrics', {
      timestamp: this.#iterationAt_us,
      iteration_counter: this.#iterations,
    });
  }

  #endIteration(step: StepEvent): void {
    this.#lastStep = step;
    this.#iterations++;
    this.#iterationAt_us = Math.floor(this.#wallMicroseconds());
  }

  #scheduled({ id, cachedTokens }: RequestProgress, resumed: boolean): void {
    if (resumed) this.#paused.delete(id);
    else this.#reusedBlocks += cachedTokens / this.#parameters.blockSize;
  }

  #finished({ promptTokens, generatedTokens }: RequestProgress): void {
    this.#inputLength.observe(promptTokens);
    this.#outputLength.observe(generatedTokens);
  }

  #setAll(family: GaugeFamily, values: Readonly<Record<string, number>>): void {
    for (const [kind, value] of Object.entries(values)) this.#set(family, kind, value);
  }

  #set(family: GaugeFamily, kind: string, value: number): void {
    this.#families.gauge(family).series({ ...this.#labels, [KINDS[family]]: kind }).value = value;
  }
}
