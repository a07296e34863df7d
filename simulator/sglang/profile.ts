import { systemResponses } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/table.ts';
import type {
  EngineEvent,
  RequestProgress,
  StepEvent,
  EngineState,
  FinishedEvent,
  KvTrafficEvent,
  ScheduledEvent,
  TokenEvent,
} from '../engine/events.ts';
import { KV_BYTES_PER_TOKEN, MODEL_BYTES, type EngineParameters } from '../engine/parameters.ts';
import type { Labels } from '../metrics/family.ts';
import { Feed } from '../metrics/feed.ts';
import { MetricsPage } from '../metrics/page.ts';
import {
  seconds,
  at,
  blockBytes,
  deviceTokens,
  ifAny,
  loadSeconds,
  on,
  sum,
  type Signals,
} from '../metrics/signals.ts';
import { FORMATS } from '../metrics/write-page.ts';
import type { RespondedRequest, ServerProfile } from '../start.ts';

/** `--decode-log-interval`: decode steps from one report to the next. */
const REPORT_STEPS = 40;

/** What SGLang's scheduler keeps account of between its reports: with each prefill and every 40 decode steps. */
class SglangScheduler {
  /** The present, on the engine's clock. */
  now_ns = 0;
  /** Requests in the batch now. */
  running = 0;
  hasReported = false;
  /** Share of the prompts of the latest batch that came from the cache; a decode report sets it to 0. */
  cacheHitRate = 0;
  /** Output tokens per second of the latest decode report. */
  tokensPerSecond = 0;
  readonly retracted = new Set<RequestProgress>();
  readonly #decoding = new Set<RequestProgress>();
  #busy_s = 0;
  /** Prompt tokens of the requests that the step in progress began with: all, and those found in the cache. */
  #batchPromptTokens = 0;
  #batchCachedTokens = 0;
  #tokens = 0;
  #decodeSteps = 0;
  #since_ns: number | null = null;

  get idle_s(): number {
    return Math.max(0, this.now_ns * 1e-9 - this.#busy_s);
  }

  /** Of the requests in their decode phase, prompts included. */
  get decodingTokens(): number {
    let tokens = 0;
    for (const { promptTokens, generatedTokens } of this.#decoding) tokens += promptTokens + generatedTokens;
    return tokens;
  }

  observe(event: EngineEvent): void {
    if (event.kind === 'kv-traffic') return;
    if (event.kind === 'step') {
      this.#endStep(event);
      return;
    }
    const { kind, request } = event;
    this.hasReported = true;
    if (kind === 'token') {
      this.#tokens++;
      this.#decoding.add(request);
    } else this.#decoding.delete(request);
    if (kind === 'preempted') this.retracted.add(request);
    else this.retracted.delete(request);
    if (kind !== 'scheduled' || event.resumed) return;
    this.#batchPromptTokens += request.promptTokens;
    this.#batchCachedTokens += request.cachedTokens;
  }

  /** The tokens of the step come after it. */
  #endStep({ start_ns, time_ns, prefillTokens }: StepEvent): void {
    this.#busy_s += seconds(start_ns, time_ns);
    if (prefillTokens > 0) {
      this.cacheHitRate = this.#batchPromptTokens === 0 ? 0 : this.#batchCachedTokens / this.#batchPromptTokens;
      this.#batchPromptTokens = 0;
      this.#batchCachedTokens = 0;
      return;
    }
    this.#since_ns ??= start_ns;
    if (++this.#decodeSteps < REPORT_STEPS) return;
    this.tokensPerSecond = this.#tokens / ((time_ns - this.#since_ns) / 1e9);
    this.#since_ns = time_ns;
    this.#tokens = 0;
    this.#decodeSteps = 0;
    this.cacheHitRate = 0;
  }
}

interface SglangProfileOptions {
  readonly modelName: string;
  readonly parameters: EngineParameters;
  /** Whether the server has the switches on that show further families. Default true. */
  readonly switches?: boolean;
}

/**
 * The metrics page of an SGLang 0.5.23 engine started with `--enable-metrics` and `--enable-hierarchical-cache`. With all
 * switches it is that of a server that no one has: prefill and decode side of a disaggregated pair, for one, are
 * different processes.
 */
export class SglangProfile implements ServerProfile {
  readonly ownedBy = 'sglang';
  readonly metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly responses = systemResponses(DIALECTS.sglang);
  readonly #page: MetricsPage;
  readonly #feed: Feed;
  readonly #scheduler = new SglangScheduler();

  constructor({ modelName, parameters, switches = true }: SglangProfileOptions) {
    const parts = ['engine', 'under_pressure', ...(switches ? ['switches'] : [])];
    const format = FORMATS.PYTHON_MULTIPROCESS;
    this.#page = new MetricsPage({ catalogs: ['sglang'], parts, format, boundsOf: ({ name }) => RULED_BOUNDS[name] });
    this.#feed = new Feed(this.#page, {
      parameters,
      labels: { ...LABELS, model_name: modelName },
      labelsOf: {
        is_streaming: ({ request }: TokenEvent) => `${request.streaming}`,
        num_prefill_ranks: ({ prefillTokens }: StepEvent) => (prefillTokens > 0 ? '1' : '0'),
      },
      signals: SIGNALS,
      fromStart: ({ name }) => FROM_START.test(name),
    });
    for (const [family, byPhase] of Object.entries(STARTUP)) {
      for (const [phase, value] of Object.entries(byPhase)) this.#feed.scalar(family, { phase }).value = value;
    }
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) this.#scheduler.observe(event);
    this.#feed.observe(events);
  }

  responded(request: RespondedRequest): void {
    if (request.handler === '/v1/loads') this.#feed.report('loads', request);
  }

  /** The gauges of the load are there from the scheduler's first report; here they are of the moment. */
  metricsPage(state: EngineState): string {
    this.#scheduler.now_ns = state.now_ns;
    this.#scheduler.running = state.running;
    this.#feed.report('scheduler', this.#scheduler);
    if (this.#scheduler.hasReported) this.#setGauges(state);
    return this.#feed.text();
  }

  #setGauges(state: EngineState): void {
    this.#feed.update(state);
    this.#feed.report('scheduler_report', this.#scheduler);
    const pid = `${process.pid}`;
    this.#feed.scalar('sglang:num_retracted_reqs', { pid }).value = this.#scheduler.retracted.size;
    this.#feed.scalar('sglang:num_paused_reqs', { pid });
    for (const name of ['sglang:routing_key_running_req_count', 'sglang:routing_key_all_req_count']) {
      const { gt = [], le = [] } = this.#page.get(name).facts.label_values ?? {};
      for (const [i, lower] of gt.entries()) this.#feed.scalar(name, { gt: lower, le: le[i] ?? '+Inf' });
    }
  }
}

/** Families whose series do not wait for their first value. */
const FROM_START =
  /^sglang:(prefill_effective_tokens|scheduler_|dp_attention_|storage_prefetch_(unfulfilled|deferred)|lora_pool|hicache_host_mamba|num_streaming_sessions|streaming_session|num_(bootstrap|transfer)_failed|num_prefill_retries|spec_verify_calls|num_so_requests)/;

const EXPERT_PARALLEL_SIZE = 1;

/** Bounds that the catalog gives as a rule, for the server that is simulated. */
const RULED_BOUNDS: Readonly<Record<string, readonly number[]>> = {
  'sglang:eplb_gpu_physical_count': Array.from({ length: EXPERT_PARALLEL_SIZE }, (_, rank) => rank),
  'sglang:prefill_delayer_wait_forward_passes': [0, 5, 20, 50, 100, 200],
};

const LABELS: Labels = {
  engine_type: 'unified',
  ...{ tp_rank: '0', dp_rank: '0', pp_rank: '0', moe_ep_rank: '0', pp_size: '1', attn_cp_rank: '0', attn_cp_size: '1' },
  ...{ cache_type: 'HiRadixCache', storage_backend: 'file', forward_overlap: 'none', layer: '0' },
  ...{ input_estimation: 'all', output_allow: 'true', output_reason: 'no_wait', actual_execution: 'true' },
};

const GIB = 2 ** 30;
const GPU_BYTES = 80 * GIB;

/** What took its time and memory when the server started, by phase. */
const STARTUP: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'sglang:graph_memory_usage_gb': { decode: 1.1, prefill: 0.4 },
  'sglang:startup_time_seconds': { load_weight: 12.5, kv_cache_allocation: 0.8, scheduler_e2e: 25.1, tokenizer_e2e: 3 },
  'sglang:startup_cuda_graph_time_seconds': { decode: 5.5, prefill: 2.2 },
};

const EVICTION_SECONDS = 0.5e-3;
const SECONDS_PER_EVICTED_BLOCK = 20e-6;
const WRITE_BYTES_PER_SECOND = 2 * GIB;
const TRANSFER_BYTES_PER_SECOND = 20 * GIB;
/** Two operations per weight and token, at 2 bytes per weight. */
const FLOPS_PER_TOKEN = MODEL_BYTES;
/** How the time of a step divides among the stages of the scheduler's loop. */
const STAGE_SHARES = { run: 0.9, result: 0.06, next: 0.04 };

const host = ({ offloadedTokens: [tokens = 0] }: RequestProgress): number => tokens;
const storage = ({ offloadedTokens: [, tokens = 0] }: RequestProgress): number => tokens;
const stepTime = ({ start_ns, time_ns }: StepEvent): number => seconds(start_ns, time_ns);
const stepTokens = ({ prefillTokens, decoding }: StepEvent): number => prefillTokens + decoding;
const kvBytes = ({ numKvBlocks }: EngineParameters, bytesPerBlock: number): number => numKvBlocks * bytesPerBlock;

/**
 * First tokens and gaps of streams are counted as they come, everything else of a request when it ends; an aborted one
 * counts in `num_aborted_requests_total` and in nothing that is counted at the end.
 */
const SIGNALS: Signals = {
  ...at<undefined>('start', {
    weight_bytes: () => MODEL_BYTES,
    kv_bytes: (_, parameters) => kvBytes(parameters, blockBytes(parameters)),
    free_gpu_bytes: (_, parameters) =>
      Math.max(0, GPU_BYTES - MODEL_BYTES - kvBytes(parameters, blockBytes(parameters))),
    lora_slots: () => 8,
  }),
  ...at<EngineState>('state', {
    kv_used_tokens: ({ usedKvBlocks }, { blockSize }) => usedKvBlocks * blockSize,
    kv_cached_tokens: ({ cachedKvBlocks }, { blockSize }) => cachedKvBlocks * blockSize,
    kv_free_tokens: ({ numKvBlocks, usedKvBlocks, cachedKvBlocks }, { blockSize }) =>
      (numKvBlocks - usedKvBlocks - cachedKvBlocks) * blockSize,
    host_used_tokens: ({ offloadedBlocks: [blocks = 0] }, { blockSize }) => blocks * blockSize,
    host_tokens: (_, { offloadTiers: [tier], blockSize }) => (tier?.blocks ?? 0) * blockSize,
    forward_occupancy: () => NaN,
    /** Share of a request's coming output that the scheduler reserves room for. */
    new_token_ratio: () => 0.7,
  }),
  ...at<SglangScheduler>('scheduler', {
    scheduler_idle_time: ({ idle_s }) => idle_s,
    process_cpu_time: () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  }),
  ...at<SglangScheduler>('scheduler_report', {
    generation_throughput: ({ running, tokensPerSecond }) => (running === 0 ? 0 : tokensPerSecond),
    batch_cache_hit_rate: ({ cacheHitRate }) => cacheHitRate,
    decoding_tokens: ({ decodingTokens }) => decodingTokens,
  }),
  ...on<ScheduledEvent>('admitted', {
    admitted_computed_tokens: ({ request }) => request.promptTokens - request.cachedTokens,
    admitted_cached_tokens: ({ request }) => request.cachedTokens,
    admitted_host_tokens: ({ request }) => host(request),
    admitted_storage_tokens: ({ request }) => storage(request),
  }),
  ...on<StepEvent>('step', {
    run_batch_time: (step) => stepTime(step) * STAGE_SHARES.run,
    process_result_time: (step) => stepTime(step) * STAGE_SHARES.result,
    next_batch_time: (step) => stepTime(step) * STAGE_SHARES.next,
    decode_step_time: (step) => (step.prefillTokens === 0 ? stepTime(step) : null),
    prefill_only_step_time: (step) => (step.prefillTokens > 0 && step.decoding === 0 ? stepTime(step) : null),
    mixed_step_time: (step) => (step.prefillTokens > 0 && step.decoding > 0 ? stepTime(step) : null),
    decode_steps: ({ prefillTokens }) => (prefillTokens === 0 ? 1 : null),
    prefill_steps: ({ prefillTokens }) => (prefillTokens > 0 ? 1 : null),
    prefill_step_tokens: ({ prefillTokens }) => ifAny(prefillTokens),
    decoding_requests: ({ decoding }) => ifAny(decoding),
    step_flops: (step) => stepTokens(step) * FLOPS_PER_TOKEN,
    step_read_bytes: (step) => MODEL_BYTES + stepTokens(step) * KV_BYTES_PER_TOKEN,
    step_written_bytes: (step) => stepTokens(step) * KV_BYTES_PER_TOKEN,
    expert_rank: () => 0,
    prefill_delay: ({ prefillTokens }) => (prefillTokens > 0 ? 0 : null),
  }),
  ...on<TokenEvent>('token', {
    streamed_token_gap: ({ request, time_ns, previous_ns }) =>
      request.streaming && previous_ns !== null ? seconds(previous_ns, time_ns) : null,
  }),
  ...on<TokenEvent>('first_token', {
    streamed_ttft: ({ request, time_ns }) => (request.streaming ? seconds(request.arrival_ns, time_ns) : null),
    time_to_first_token_in_batch: ({ request, time_ns }) => seconds(request.scheduled_ns ?? time_ns, time_ns),
    prefilled_requests: () => 1,
    transferred_bytes: ({ request }) => request.promptTokens * KV_BYTES_PER_TOKEN,
    transfer_bandwidth: () => TRANSFER_BYTES_PER_SECOND,
    transfer_time: ({ request }) => (request.promptTokens * KV_BYTES_PER_TOKEN) / TRANSFER_BYTES_PER_SECOND,
    transfer_bootstrap_time: () => 0.004,
    transfer_allocation_time: () => 0.0015,
  }),
  ...on<FinishedEvent>('finished', {
    time_per_output_token: ({ request, time_ns }) =>
      request.generatedTokens > 1
        ? seconds(request.firstToken_ns ?? time_ns, time_ns) / (request.generatedTokens - 1)
        : null,
    finished_device_tokens: ({ request }) => ifAny(deviceTokens(request)),
    finished_host_tokens: ({ request }) => ifAny(host(request)),
    finished_storage_tokens: ({ request }) => ifAny(storage(request)),
    deferred_release_time: () => 0.004,
  }),
  // The hierarchical cache: the device, then host memory, then a storage backend.
  ...on<KvTrafficEvent>('kv_traffic', {
    eviction_time: ({ evicted }) => (evicted > 0 ? EVICTION_SECONDS + evicted * SECONDS_PER_EVICTED_BLOCK : null),
    evicted_tokens: ({ evicted }, { blockSize }) => ifAny(evicted * blockSize),
    load_back_time: ({ loaded }, parameters) => (sum(loaded) > 0 ? loadSeconds(loaded, parameters) : null),
    loaded_tokens: ({ loaded }, { blockSize }) => ifAny(sum(loaded) * blockSize),
    backup_tokens: ({ stored: [, blocks = 0] }, { blockSize }) => ifAny(blocks * blockSize),
    backup_blocks: ({ stored: [, blocks = 0] }) => ifAny(blocks),
    backup_bandwidth: ({ stored: [, blocks = 0] }) => (blocks > 0 ? WRITE_BYTES_PER_SECOND : null),
    prefetched_tokens: ({ loaded: [, blocks = 0] }, { blockSize }) => ifAny(blocks * blockSize),
    prefetched_blocks: ({ loaded: [, blocks = 0] }) => ifAny(blocks),
    prefetch_bandwidth: ({ loaded: [, blocks = 0] }, parameters) => {
      const loading_s = loadSeconds([0, 1], parameters);
      return blocks > 0 && loading_s > 0 ? blockBytes(parameters) / loading_s : null;
    },
  }),
  ...on<RespondedRequest>('loads', { loads_response_time: ({ seconds }) => seconds }),
};
