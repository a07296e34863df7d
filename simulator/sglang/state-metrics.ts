import type { EngineState, EngineEvent, RequestProgress } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { KV_BYTES_PER_TOKEN, MODEL_BYTES } from '../kv-bytes.ts';
import type { Labels } from '../metrics/family.ts';
import type { SglangFamilies } from './families.ts';
import { schedulerLabels, tokenizerLabels } from './labels.ts';
import type { SglangSchedulerMetrics } from './scheduler-metrics.ts';

const BYTES_PER_GIB = 2 ** 30;
const GPU_GIB = 80;
const GRAPH_GIB = { decode: 1.1, prefill: 0.4 };
const GRAPH_CAPTURE_SECONDS = { decode: 5.5, prefill: 2.2 };
const STARTUP_SECONDS = { load_weight: 12.5, kv_cache_allocation: 0.8, scheduler_e2e: 25.1, tokenizer_e2e: 3 };
/** Share of a request's coming output that the scheduler reserves room for. */
const NEW_TOKEN_RATIO = 0.7;

/** Shown in every mode of the server and at 0 in this one: nothing that the simulator does moves them. */
const ZERO_GAUGES = [
  'num_grammar_queue_reqs',
  'swa_token_usage',
  'mamba_usage',
  'swa_available_tokens',
  'swa_evictable_tokens',
  'swa_used_tokens',
  'mamba_available_tokens',
  'mamba_evictable_tokens',
  'mamba_used_tokens',
  'spec_accept_length',
  'spec_accept_rate',
  'spec_cap_length',
  'spec_block_accept_length',
  'spec_num_steps',
  'spec_num_draft_tokens',
  'num_prefill_bootstrap_queue_reqs',
  'num_prefill_inflight_queue_reqs',
  'num_decode_prealloc_queue_reqs',
  'num_decode_transfer_queue_reqs',
  'num_decode_host_receive_queue_reqs',
  'num_decode_deferred_kv_release_reqs',
  'pending_prealloc_token_usage',
  'prealloc_full_token_usage',
  'prealloc_swa_token_usage',
  'utilization',
  'is_cuda_graph',
  'num_unique_running_routing_keys',
];

/**
 * SGLang's gauges. Those of the configuration are there from the start, those of the load from the scheduler's first
 * report; the real server reports with each prefill and every 40 decode steps, here they are of the moment.
 */
export class SglangStateMetrics {
  readonly #families: SglangFamilies;
  readonly #parameters: EngineParameters;
  readonly #scheduler: SglangSchedulerMetrics;
  readonly #labels: Labels;
  readonly #decoding = new Set<RequestProgress>();
  readonly #retracted = new Set<RequestProgress>();
  #hasReported = false;

  constructor(
    families: SglangFamilies,
    modelName: string,
    parameters: EngineParameters,
    scheduler: SglangSchedulerMetrics,
  ) {
    this.#families = families;
    this.#parameters = parameters;
    this.#scheduler = scheduler;
    this.#labels = schedulerLabels(modelName);
    this.#setConfiguration(tokenizerLabels(modelName));
  }

  observe(event: EngineEvent): void {
    if (event.kind === 'step' || event.kind === 'kv-traffic') return;
    this.#hasReported = true;
    const { kind, request } = event;
    if (kind === 'token') this.#decoding.add(request);
    else this.#decoding.delete(request);
    if (kind === 'preempted') this.#retracted.add(request);
    else this.#retracted.delete(request);
  }

  update(state: EngineState): void {
    if (!this.#hasReported) return;
    const { blockSize } = this.#parameters;
    const used = state.usedKvBlocks * blockSize;
    const evictable = state.cachedKvBlocks * blockSize;
    const usage = state.usedKvBlocks / state.numKvBlocks;
    this.#set('num_running_reqs', state.running);
    this.#set('num_queue_reqs', state.waiting);
    this.#set('gen_throughput', state.running === 0 ? 0 : this.#scheduler.generationThroughput);
    this.#set('cache_hit_rate', this.#scheduler.cacheHitRate);
    this.#set('decode_sum_seq_lens', this.#decodingTokens());
    this.#set('token_usage', usage);
    this.#set('full_token_usage', usage);
    this.#set('num_used_tokens', used);
    this.#set('kv_used_tokens', used);
    this.#set('kv_evictable_tokens', evictable);
    this.#set('kv_available_tokens', state.numKvBlocks * blockSize - used - evictable);
    this.#set('fwd_occupancy', NaN);
    this.#set('new_token_ratio', NEW_TOKEN_RATIO);
    this.#set('hicache_host_used_tokens', (state.offloadedBlocks[0] ?? 0) * blockSize);
    this.#set('hicache_host_total_tokens', (this.#parameters.offloadTiers[0]?.blocks ?? 0) * blockSize);
    const pid = `${process.pid}`;
    this.#set('num_retracted_reqs', this.#retracted.size, { pid });
    this.#set('num_paused_reqs', 0, { pid });
    for (const name of ZERO_GAUGES) this.#set(name, 0);
    for (const name of ['routing_key_running_req_count', 'routing_key_all_req_count']) this.#setBrackets(name);
  }

  #setConfiguration(tokenizer: Labels): void {
    const { numKvBlocks, blockSize, maxModelLen } = this.#parameters;
    const tokens = numKvBlocks * blockSize;
    const weights = MODEL_BYTES / BYTES_PER_GIB;
    const kvCache = (tokens * KV_BYTES_PER_TOKEN) / BYTES_PER_GIB;
    this.#set('max_total_num_tokens', tokens);
    this.#set('weight_memory_usage_gb', weights);
    this.#set('kv_cache_memory_usage_gb', kvCache);
    for (const [phase, gib] of Object.entries(GRAPH_GIB)) this.#set('graph_memory_usage_gb', gib, { phase });
    this.#set('page_size', blockSize);
    this.#set('num_pages', numKvBlocks);
    this.#set('context_len', maxModelLen);
    this.#set('startup_available_gpu_memory_gb', Math.max(0, GPU_GIB - weights - kvCache));
    for (const [phase, seconds] of Object.entries(STARTUP_SECONDS)) {
      this.#families.gauge('sglang:startup_time_seconds').series({ ...tokenizer, phase }).value = seconds;
    }
    for (const [phase, seconds] of Object.entries(GRAPH_CAPTURE_SECONDS)) {
      this.#families.gauge('sglang:startup_cuda_graph_time_seconds').series({ ...tokenizer, phase }).value = seconds;
    }
  }

  #decodingTokens(): number {
    let tokens = 0;
    for (const { promptTokens, generatedTokens } of this.#decoding) tokens += promptTokens + generatedTokens;
    return tokens;
  }

  #setBrackets(name: string): void {
    const uppers = this.#families.labelValues(`sglang:${name}`, 'le');
    for (const [i, gt] of this.#families.labelValues(`sglang:${name}`, 'gt').entries()) {
      this.#set(name, 0, { gt, le: uppers[i] ?? '+Inf' });
    }
  }

  #set(name: string, value: number, labels: Labels = {}): void {
    this.#families.gauge(`sglang:${name}`).series({ ...this.#labels, ...labels }).value = value;
  }
}
