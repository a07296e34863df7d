import { systemResponses } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/table.ts';
import type {
  AbortedEvent,
  DraftCounts,
  EngineEvent,
  EngineState,
  FinishedEvent,
  TokenEvent,
} from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { RespondedRequest, ServerProfile } from '../start.ts';
import type { Labels } from '../metrics/family.ts';
import { Feed } from '../metrics/feed.ts';
import { MetricsPage } from '../metrics/page.ts';
import { at, blockBytes, on, seconds, sum } from '../metrics/signals.ts';
import type { DraftPosition, Signals } from '../metrics/signals.ts';
import { FORMATS, type PageFormat } from '../metrics/write-page.ts';
import { IterationCounter, IterationLog, draftOverhead, gpuMemoryBytes, hitRatio, kvTransfer } from './iteration.ts';
import type { Iteration } from './iteration.ts';

/** `tensor_parallel_size` of the server that is simulated: a rank per GPU, each an executor process. */
const RANKS = 2;

/** What trtllm-serve shows: the page of `/prometheus/metrics` and the rows of `/metrics`. */
export class TrtllmProfile implements ServerProfile {
  readonly ownedBy = 'tensorrt_llm';
  readonly metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly responses = systemResponses(DIALECTS.trtllm);
  readonly #feed: Feed;
  readonly #workerFeed: Feed;
  readonly #counter: IterationCounter;
  readonly #log: IterationLog;
  readonly #tiers: readonly string[];

  constructor(modelName: string, parameters: EngineParameters, wallSeconds: () => number = () => Date.now() / 1000) {
    this.#counter = new IterationCounter(parameters);
    this.#log = new IterationLog(parameters, wallSeconds);
    this.#tiers = ['gpu', ...parameters.offloadTiers.map(({ name }) => name)];
    this.#feed = new Feed(page(['server'], FORMATS.PYTHON_MULTIPROCESS), {
      parameters,
      // Gauges carry the process that wrote them.
      labels: { model_name: modelName, engine_type: 'pytorch', pid: `${process.pid}` },
      labelsOf: {
        token_position: ({ position }: DraftPosition) => `${position}`,
        http_code: ({ status }: RespondedRequest) => `${status}`,
        cache_level: ({ level }: CacheLevel) => `${level}`,
        cache_tier: ({ tier }: CacheLevel) => tier,
      },
      signals: SIGNALS,
      fromStart: ({ name }) => name === 'trtllm_prompt_cached_tokens_total',
    });
    for (const [name, labels] of Object.entries(configuration(modelName, parameters))) {
      this.#feed.scalar(`trtllm_${name}_config_info`, labels).value = 1;
    }
    // As the decode side of a pair does for the same requests.
    this.#workerFeed = new Feed(page(['dynamo_worker'], FORMATS.PYTHON), {
      parameters,
      labels: { model_name: modelName, engine_type: 'trtllm', disaggregation_mode: 'decode' },
      signals: SIGNALS,
      fromStart: ({ name }) => /_(num_aborted_requests|request_type_\w+)_total$/.test(name),
    });
  }

  observe(events: readonly EngineEvent[]): void {
    this.#feed.observe(events);
    this.#workerFeed.observe(events);
    for (const iteration of this.#counter.observe(events)) {
      this.#log.observe(iteration);
      this.#feed.report('iteration', iteration);
      for (const [level, tier] of this.#tiers.entries()) {
        const tokens = iteration.cachedTokensByLevel[level] ?? 0;
        this.#feed.report('cache_level', { level, tier, tokens } satisfies CacheLevel);
      }
    }
  }

  responded(request: RespondedRequest): void {
    if (request.handler === '/v1/chat/completions' && request.status === 400) this.#feed.report('refused', request);
  }

  metricsPage({ running }: EngineState): string {
    for (let rank = 0; rank < RANKS; rank++) {
      // Both ranks run the same batch. Their process ids are made up: there is only one process here.
      const labels = { rank: `${rank}`, pid: `${process.pid + 1 + rank}` };
      this.#feed.scalar('trtllm_scheduled_batch_size', labels).value = running;
    }
    return this.#feed.text();
  }

  /** The rows of iteration statistics that have not been read yet, as JSON. */
  drainIterations(): string {
    return this.#log.drain();
  }

  /** The page of a Dynamo worker around the same engine. */
  workerPage(): string {
    return this.#workerFeed.text();
  }
}

const page = (parts: readonly string[], format: PageFormat) => new MetricsPage({ catalogs: ['trtllm'], parts, format });

interface CacheLevel {
  readonly level: number;
  readonly tier: string;
  readonly tokens: number;
}

/** The families that tell the configuration: labels as the server gives them, the value always 1. */
function configuration(
  modelName: string,
  { maxModelLen, blockSize, enablePrefixCaching, speculation }: EngineParameters,
): Record<string, Labels> {
  return {
    model: {
      model: modelName,
      served_model_name: modelName,
      dtype: 'auto',
      quantization: 'FP8',
      max_model_len: `${maxModelLen}`,
      gpu_type: 'NVIDIA H100 80GB HBM3',
    },
    parallel: {
      tensor_parallel_size: `${RANKS}`,
      pipeline_parallel_size: '1',
      context_parallel_size: '1',
      gpu_count: `${RANKS}`,
      expert_parallel_size: '1',
    },
    ...(speculation !== null && {
      speculative: {
        spec_enabled: 'True',
        spec_method: 'Eagle3DecodingConfig',
        spec_num_tokens: `${speculation.draftTokens}`,
        spec_draft_model: `${modelName}-eagle3`,
      },
    }),
    kv_cache: {
      page_size: `${blockSize}`,
      enable_block_reuse: enablePrefixCaching ? 'True' : 'False',
      enable_partial_reuse: 'False',
      free_gpu_memory_fraction: '0.9',
      cache_dtype: 'auto',
    },
  };
}

/** A time that is not above zero, as a decode phase of one token, is not observed. */
function span(from_ns: number | null, to_ns: number | null): number | null {
  return from_ns !== null && to_ns !== null && to_ns > from_ns ? seconds(from_ns, to_ns) : null;
}

type EndedEvent = FinishedEvent | AbortedEvent;

const endedBy = (event: EndedEvent): string => (event.kind === 'aborted' ? 'cancel' : event.request.finishReason);

const SIGNALS: Signals = {
  // Requests are counted when they end, cancelled ones included.
  ...on<EndedEvent>('ended', {
    ended_by_stop: (event) => (endedBy(event) === 'stop' ? 1 : null),
    ended_by_length: (event) => (endedBy(event) === 'length' ? 1 : null),
    ended_by_cancel: (event) => (endedBy(event) === 'cancel' ? 1 : null),
    ended_prompt_tokens: ({ request }) => request.promptTokens,
    ended_output_tokens: ({ request }) => request.generatedTokens,
    ended_cached_tokens: ({ request }) => request.cachedTokens,
    // The queue time alone may be zero.
    ended_queue_time: ({ request: { arrival_ns, scheduled_ns } }) =>
      scheduled_ns === null ? null : seconds(arrival_ns, scheduled_ns),
    ended_e2e_time: ({ request }) => span(request.arrival_ns, request.lastToken_ns),
    ended_ttft: ({ request }) => span(request.arrival_ns, request.firstToken_ns),
    ended_prefill_time: ({ request }) => span(request.scheduled_ns, request.firstToken_ns),
    ended_decode_time: ({ request }) => span(request.firstToken_ns, request.lastToken_ns),
    ended_inference_time: ({ request }) => span(request.scheduled_ns, request.lastToken_ns),
    ended_time_per_output_token: ({ request: { firstToken_ns, lastToken_ns, generatedTokens } }) => {
      const decode_s = span(firstToken_ns, lastToken_ns);
      return decode_s === null ? null : decode_s / (generatedTokens - 1);
    },
  }),
  ...on<RespondedRequest>('refused', { refused: () => 1 }),
  ...on<Iteration>('iteration', {
    // Only whole blocks are reused, so that nothing is copied either; other families are 0 on the PyTorch backend.
    nothing_in_iteration: () => 0,
    completed_requests: ({ completed }) => completed,
    reused_blocks: ({ reusedBlocks }) => reusedBlocks,
    missed_blocks: ({ missedBlocks }) => missedBlocks,
    generation_blocks: ({ generationBlocks }) => generationBlocks,
    onboarded_bytes: ({ onboardedBlocks }, parameters) => sum(onboardedBlocks) * blockBytes(parameters),
    offloaded_bytes: ({ offloadedBlocks }, parameters) => offloadedBlocks * blockBytes(parameters),
    disk_prefetched_blocks: ({ onboardedBlocks: [, disk = 0] }) => disk,
    prefill_batch_tokens: ({ contextTokens }) => (contextTokens > 0 ? contextTokens : null),
  }),
  // Of the last iteration, also when there is none any more.
  ...at<Iteration>('iteration', {
    iteration_running: ({ state }) => state.running,
    iteration_waiting: ({ state }) => state.waiting,
    max_active_requests: (_, { maxNumSeqs }) => maxNumSeqs,
    iteration_time: ({ seconds }) => seconds,
    gpu_bytes: (_, parameters) => gpuMemoryBytes(parameters),
    context_requests: ({ contextRequests }) => contextRequests,
    generation_requests: ({ generationRequests }) => generationRequests,
    paused_requests: ({ pausedRequests }) => pausedRequests,
    scheduled_requests: ({ contextRequests, generationRequests }) => contextRequests + generationRequests,
    context_tokens: ({ contextTokens }) => contextTokens,
    context_occupancy: ({ contextRequests }, { maxNumSeqs }) => contextRequests / maxNumSeqs,
    block_hit_ratio: ({ totals }) => hitRatio(totals),
    iteration_hit_ratio: ({ reusedBlocks, missedBlocks }) => hitRatio({ reused: reusedBlocks, missed: missedBlocks }),
    iteration_kv_usage: ({ state }) => state.usedKvBlocks / state.numKvBlocks,
    iteration_kv_blocks: ({ state }) => state.numKvBlocks,
    iteration_free_blocks: ({ state }) => state.numKvBlocks - state.usedKvBlocks,
    iteration_used_blocks: ({ state }) => state.usedKvBlocks,
    tokens_per_block: (_, { blockSize }) => blockSize,
    host_usage: ({ state: { offloadedBlocks } }, { offloadTiers: [host] }) =>
      host === undefined ? 0 : (offloadedBlocks[0] ?? 0) / host.blocks,
  }),
  ...on<CacheLevel>('cache_level', { cached_tokens_at_level: ({ tokens }) => tokens }),
  ...at<DraftCounts>('drafts', {
    acceptance_length: ({ sequences, acceptedByPosition }) => (sum(acceptedByPosition) + sequences) / sequences,
    draft_overhead: (_, { speculation }) => (speculation === null ? null : draftOverhead(speculation)),
  }),
  ...on<TokenEvent>('first_token', {
    kv_transfers: () => 1,
    kv_transfer_time: ({ request }) => kvTransfer(request).seconds,
    kv_transfer_bytes: ({ request }) => kvTransfer(request).bytes,
    kv_transfer_bandwidth: ({ request }) => kvTransfer(request).bytes / kvTransfer(request).seconds,
  }),
};
