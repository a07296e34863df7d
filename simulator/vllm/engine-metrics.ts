import type {
  EngineState,
  EngineEvent,
  FinishedEvent,
  RequestProgress,
  ScheduledEvent,
  TokenEvent,
} from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { Histogram, Scalar } from '../metrics/family.ts';
import type { VllmFamilies } from './families.ts';
import { KV_BYTES_PER_TOKEN } from '../kv-bytes.ts';
import type { Labels } from '../metrics/family.ts';

const SECONDS_PER_NANOSECOND = 1e-9;

/** A family with one series per value of a label: all of them are on the page from the start. */
type ByValue = (value: string) => Scalar;

/**
 * What vLLM counts of its engine, and when: queue and cache figures as requests are scheduled, prompt tokens and time
 * to first token at the first token, generated tokens and gaps at each, everything about a whole request when it has
 * finished. A request that is aborted is in no figure of finished requests, and in no `finished_reason` either: that
 * is what vLLM 0.32.0 does.
 */
export class VllmEngineMetrics {
  readonly #running: Scalar;
  readonly #waiting: Scalar;
  readonly #waitingByReason: ByValue;
  readonly #kvCacheUsage: Scalar;
  readonly #prefixQueries: Scalar;
  readonly #prefixHits: Scalar;
  readonly #externalQueries: Scalar;
  readonly #externalHits: Scalar;
  readonly #hasTiers: boolean;
  readonly #cachedByTier: ByValue;
  readonly #preemptions: Scalar;
  readonly #promptTokens: Scalar;
  readonly #promptTokensBySource: ByValue;
  readonly #promptTokensCached: Scalar;
  readonly #generationTokens: Scalar;
  readonly #requestSuccess: ByValue;
  readonly #iterationTokens: Histogram;
  readonly #timeToFirstToken: Histogram;
  readonly #interTokenLatency: Histogram;
  readonly #finished: ReadonlyMap<string, Histogram>;
  // Tokens of the step whose token events are being observed: vLLM observes them at once, at the end of the step.
  #stepTokens = 0;

  constructor(families: VllmFamilies, modelName: string, parameters: EngineParameters) {
    const common = { engine: '0', model_name: modelName };
    const counter = (name: string) => families.counter(`vllm:${name}`).series(common);
    const gauge = (name: string) => families.gauge(`vllm:${name}`).series(common);
    const histogram = (name: string) => families.histogram(`vllm:${name}`).series(common);
    const byValue = (type: 'counter' | 'gauge', name: string, label: string, base: object = common): ByValue => {
      const series = new Map(
        families
          .labelValues(`vllm:${name}`, label)
          .map((value) => [value, families[type](`vllm:${name}`).series({ ...base, [label]: value })]),
      );
      return (value) => {
        const found = series.get(value);
        if (found === undefined) throw new Error(`vllm:${name} has no ${label} "${value}"`);
        return found;
      };
    };

    this.#running = gauge('num_requests_running');
    this.#waiting = gauge('num_requests_waiting');
    this.#waitingByReason = byValue('gauge', 'num_requests_waiting_by_reason', 'reason');
    this.#kvCacheUsage = gauge('kv_cache_usage_perc');
    this.#prefixQueries = counter('prefix_cache_queries_total');
    this.#prefixHits = counter('prefix_cache_hits_total');
    this.#externalQueries = counter('external_prefix_cache_queries_total');
    this.#externalHits = counter('external_prefix_cache_hits_total');
    this.#hasTiers = parameters.offloadTiers.length > 0;
    this.#cachedByTier = byValue('counter', 'prompt_tokens_cached_by_source_total', 'source');
    this.#preemptions = counter('num_preemptions_total');
    this.#promptTokens = counter('prompt_tokens_total');
    this.#promptTokensBySource = byValue('counter', 'prompt_tokens_by_source_total', 'source');
    this.#promptTokensCached = counter('prompt_tokens_cached_total');
    this.#generationTokens = counter('generation_tokens_total');
    this.#requestSuccess = byValue('counter', 'request_success_total', 'finished_reason');
    this.#iterationTokens = histogram('iteration_tokens_total');
    this.#timeToFirstToken = histogram('time_to_first_token_seconds');
    this.#interTokenLatency = histogram('inter_token_latency_seconds');
    this.#finished = new Map(FINISHED_FAMILIES.map((name) => [name, histogram(name)]));

    byValue('gauge', 'engine_sleep_state', 'sleep_state')('awake').value = 1;
    byValue('counter', 'admission_rejections_total', 'reason', { model_name: modelName });
    for (const name of UNUSED_COUNTERS) counter(name);
    families.gauge('vllm:cache_config_info').series(cacheConfigLabels(parameters)).value = 1;
  }

  /** Takes up events in the order of the engine, a whole portion of `advanceTo` at a time. */
  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      switch (event.kind) {
        case 'scheduled':
          this.#scheduled(event);
          break;
        case 'preempted':
          this.#preemptions.add(1);
          break;
        case 'step':
          this.#endIteration();
          break;
        case 'token':
          this.#token(event);
          break;
        case 'finished':
          this.#requestFinished(event);
          break;
        case 'aborted':
          break;
      }
    }
    this.#endIteration();
  }

  /** Sets the gauges to the state of the engine. */
  update({ running, waiting, usedKvBlocks, numKvBlocks }: EngineState): void {
    this.#running.value = running;
    this.#waiting.value = waiting;
    this.#waitingByReason('capacity').value = waiting;
    this.#kvCacheUsage.value = usedKvBlocks / numKvBlocks;
  }

  #scheduled({ request, resumed }: ScheduledEvent): void {
    if (resumed) return;
    const { device, external } = cachedWhere(request);
    this.#prefixQueries.add(request.promptTokens);
    this.#prefixHits.add(device);
    this.#cachedByTier('device').add(device);
    if (!this.#hasTiers) return;
    this.#externalQueries.add(request.promptTokens - device);
    this.#externalHits.add(external);
    // A connector does not say where it had them from.
    this.#cachedByTier('external_unspecified').add(external);
  }

  #token({ request, time_ns, previous_ns }: TokenEvent): void {
    this.#generationTokens.add(1);
    this.#stepTokens++;
    // Tokens that one step gave to a request are one output, with one gap before it.
    if (previous_ns === time_ns) return;
    if (previous_ns !== null) {
      this.#interTokenLatency.observe((time_ns - previous_ns) * SECONDS_PER_NANOSECOND);
      return;
    }
    this.#firstOutput(request, time_ns);
  }

  /** The first token, or the vector of a request that generates none: vLLM counts the prompt with it, and its time. */
  #firstOutput(request: RequestProgress, time_ns: number): void {
    const computed = request.promptTokens - request.cachedTokens;
    this.#stepTokens += computed;
    this.#promptTokens.add(request.promptTokens);
    this.#promptTokensCached.add(request.cachedTokens);
    this.#promptTokensBySource('local_compute').add(computed);
    this.#promptTokensBySource('local_cache_hit').add(cachedWhere(request).device);
    this.#promptTokensBySource('external_kv_transfer').add(cachedWhere(request).external);
    this.#timeToFirstToken.observe((time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND);
  }

  #endIteration(): void {
    if (this.#stepTokens > 0) this.#iterationTokens.observe(this.#stepTokens);
    this.#stepTokens = 0;
  }

  #requestFinished({ request, time_ns }: FinishedEvent): void {
    if (request.generatedTokens === 0) this.#firstOutput(request, time_ns);
    const scheduled_ns = request.scheduled_ns ?? time_ns;
    const firstToken_ns = request.firstToken_ns ?? time_ns;
    const gaps = Math.max(0, request.generatedTokens - 1);
    const seconds = (from_ns: number, to_ns: number): number => (to_ns - from_ns) * SECONDS_PER_NANOSECOND;
    const values: Record<(typeof FINISHED_FAMILIES)[number], number> = {
      request_prompt_tokens: request.promptTokens,
      request_generation_tokens: request.generatedTokens,
      request_max_num_generation_tokens: request.generatedTokens,
      request_params_n: 1,
      request_params_max_tokens: request.outputTokens,
      request_time_per_output_token_seconds: gaps > 0 ? seconds(firstToken_ns, time_ns) / gaps : 0,
      e2e_request_latency_seconds: seconds(request.arrival_ns, time_ns),
      request_queue_time_seconds: seconds(request.arrival_ns, scheduled_ns),
      request_inference_time_seconds: seconds(scheduled_ns, time_ns),
      request_prefill_time_seconds: seconds(scheduled_ns, firstToken_ns),
      request_decode_time_seconds: seconds(firstToken_ns, time_ns),
      request_num_preemptions: request.preemptions,
      request_prefill_kv_computed_tokens: request.promptTokens - request.cachedTokens,
    };
    for (const name of FINISHED_FAMILIES) {
      // Only a request that requested a number of tokens has one to observe.
      if (name === 'request_params_max_tokens' && request.finishReason !== 'length') continue;
      this.#finished.get(name)?.observe(values[name]);
    }
    this.#requestSuccess(request.finishReason).add(1);
  }
}

/** Tokens that were found on the device, and those that a KV connector brought back from offload tiers. */
function cachedWhere({ cachedTokens, offloadedTokens }: RequestProgress): { device: number; external: number } {
  const external = offloadedTokens.reduce((sum, tokens) => sum + tokens, 0);
  return { device: cachedTokens - external, external };
}

const FINISHED_FAMILIES = [
  'request_prompt_tokens',
  'request_generation_tokens',
  'request_max_num_generation_tokens',
  'request_params_n',
  'request_params_max_tokens',
  'request_time_per_output_token_seconds',
  'e2e_request_latency_seconds',
  'request_queue_time_seconds',
  'request_inference_time_seconds',
  'request_prefill_time_seconds',
  'request_decode_time_seconds',
  'request_num_preemptions',
  'request_prefill_kv_computed_tokens',
] as const;

/** On the page at 0: nothing that the simulator does moves them. */
const UNUSED_COUNTERS = [
  'estimated_flops_per_gpu_total',
  'estimated_read_bytes_per_gpu_total',
  'estimated_write_bytes_per_gpu_total',
  'mm_cache_queries_total',
  'mm_cache_hits_total',
];

/** vLLM keeps one block of its cache empty: it counts it here, and requests never get it. */
const NULL_BLOCKS = 1;

/** The labels of `vllm:cache_config_info`, each a field of the cache configuration as Python prints it. */
function cacheConfigLabels({ numKvBlocks, blockSize, maxModelLen, enablePrefixCaching }: EngineParameters): Labels {
  const blocks = numKvBlocks + NULL_BLOCKS;
  const tokens = blocks * blockSize;
  const concurrency = tokens / maxModelLen;
  return {
    _block_size_resolved: 'True',
    block_size: `${blockSize}`,
    cache_dtype: 'auto',
    cache_hit_alignment_tokens: 'None',
    effective_attention_block_size: `${blockSize}`,
    enable_mamba_shared_prefix_checkpoint: 'False',
    enable_prefix_caching: enablePrefixCaching ? 'True' : 'False',
    engine: '0',
    gpu_memory_utilization: '0.92',
    hash_block_size: 'None',
    is_attention_free: 'False',
    kv_cache_dtype_skip_layers: '[]',
    kv_cache_layout: 'None',
    kv_cache_max_concurrency: Number.isInteger(concurrency) ? `${concurrency}.0` : `${concurrency}`,
    kv_cache_memory_bytes: `${tokens * KV_BYTES_PER_TOKEN}`,
    kv_cache_size_tokens: `${tokens}`,
    kv_offloading_backend: 'native',
    kv_offloading_size: 'None',
    kv_sharing_fast_prefill: 'False',
    mamba_block_size: 'None',
    mamba_cache_dtype: 'auto',
    mamba_cache_mode: 'none',
    mamba_page_size_padded: 'None',
    mamba_ssm_cache_dtype: 'float32',
    num_cpu_blocks: 'None',
    num_gpu_blocks: `${blocks}`,
    num_gpu_blocks_override: 'None',
    prefix_cache_retention_interval: '0',
    prefix_caching_hash_algo: 'sha256',
    prefix_match_unit: 'None',
    replayssm_buffer_len: '16',
    skip_page_size_padded: 'None',
    sliding_window: 'None',
    swa_bounded_replay: 'True',
    use_kda_recoverssm: 'False',
    use_replayssm: 'False',
    user_specified_block_size: 'False',
  };
}
