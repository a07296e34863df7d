import { readFileSync, readdirSync } from 'node:fs';

import { systemResponses } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/table.ts';
import type {
  EngineEvent,
  EngineState,
  KvTrafficEvent,
  ScheduledEvent,
  StepEvent,
  TokenEvent,
} from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { RespondedRequest, ServerProfile } from '../start.ts';
import type { Labels } from '../metrics/family.ts';
import { Feed } from '../metrics/feed.ts';
import { MetricsPage } from '../metrics/page.ts';
import { at, blockBytes, deviceTokens, ifAny, loadSeconds, on, sum } from '../metrics/signals.ts';
import type { Signals } from '../metrics/signals.ts';
import { FORMATS } from '../metrics/write-page.ts';
import { KV_BYTES_PER_TOKEN } from '../engine/parameters.ts';

interface VllmProfileOptions {
  readonly modelName: string;
  readonly parameters: EngineParameters;
  /** The present as Unix time. Default: the machine's. */
  readonly wallSeconds?: () => number;
  /** Whether the server has the switches on that show further families. Default true. */
  readonly switches?: boolean;
  /** Whether another server passes on the families of the engine, and none else. Default false. */
  readonly engineOnly?: boolean;
}

/**
 * The metrics page of vLLM 0.33.0 with one engine and one API server process. With all switches it is that of a server
 * that no one has: a real one has one KV connector, or is one side of a prefill and decode pair. A request that is
 * aborted is in no figure of finished requests, and in no `finished_reason` either.
 */
export class VllmProfile implements ServerProfile {
  readonly ownedBy = 'vllm';
  readonly responses = systemResponses(DIALECTS.vllm);
  /** Whatever the scraper asks for. */
  readonly metricsContentType = 'text/plain; version=1.0.0; charset=utf-8';
  readonly #feed: Feed;
  // Tokens of the step whose token events are being observed: vLLM observes them at once, at the end of the step.
  #stepTokens = 0;

  constructor(options: VllmProfileOptions) {
    const {
      modelName,
      parameters,
      wallSeconds = () => Date.now() / 1000,
      switches = true,
      engineOnly = false,
    } = options;
    const { speculation, offloadTiers } = parameters;
    const shown = {
      process: !engineOnly,
      engine: true,
      http: !engineOnly,
      switches: switches && !engineOnly,
      speculation: switches && !engineOnly && speculation !== null,
      offloading: switches && !engineOnly && offloadTiers.length > 0,
    };
    const page = new MetricsPage({
      catalogs: ['vllm'],
      parts: Object.entries(shown).flatMap(([part, isShown]) => (isShown ? [part] : [])),
      format: FORMATS.PYTHON,
      maxModelLen: parameters.maxModelLen,
      // The families of the process and of Python come from collectors that know no creation times.
      createdOf: (name) => (/^(python|process)_/.test(name) ? null : wallSeconds()),
    });
    this.#feed = new Feed(page, {
      parameters,
      labels: { model_name: modelName, engine: '0', ...NO_ADAPTERS },
      labelsOf: { ...OF_RESPONSE, position: ({ position }: { position: number }) => `${position}` },
      values: { position: Array.from({ length: speculation?.draftTokens ?? 0 }, (_, position) => `${position}`) },
      signals: { ...SIGNALS, ...on<StepEvent>('step', { last_step_time: wallSeconds }) },
      // Without /proc the page has the families of the process and no series, as the Python client.
      fromStart: ({ name }) => !name.startsWith('process_') && name !== 'vllm:lora_requests_info',
    });
    this.#feed.scalar('vllm:cache_config_info', cacheConfigLabels(parameters)).value = 1;
    if (!engineOnly) this.#feed.scalar('python_info', PYTHON).value = 1;
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'step') this.#endIteration();
      else if (event.kind === 'token') this.#stepTokens++;
      const isFirst = event.kind === 'token' && event.index === 0;
      const isVector = event.kind === 'finished' && event.request.generatedTokens === 0;
      if (isFirst || isVector) this.#stepTokens += event.request.promptTokens - event.request.cachedTokens;
    }
    this.#endIteration();
    this.#feed.observe(events);
  }

  responded(request: RespondedRequest): void {
    this.#feed.report('response', request);
  }

  metricsPage(state: EngineState): string {
    this.#feed.update(state);
    return this.#feed.text();
  }

  #endIteration(): void {
    if (this.#stepTokens > 0) this.#feed.report('iteration', this.#stepTokens);
    this.#stepTokens = 0;
  }
}

/** No request asks for an adapter, so none runs and none waits. */
const NO_ADAPTERS: Labels = { max_lora: '4', running_lora_adapters: '', waiting_lora_adapters: '' };

const OF_RESPONSE = {
  handler: ({ handler }: RespondedRequest) => handler,
  method: ({ method }: RespondedRequest) => method,
  status: ({ status }: RespondedRequest) => `${Math.floor(status / 100)}xx`,
};

const PYTHON: Labels = { implementation: 'CPython', major: '3', minor: '11', patchlevel: '7', version: '3.11.7' };

const PAGE_BYTES = 4096;
const TRANSFER_BYTES_PER_SECOND = 20 * 2 ** 30;
const POST_SECONDS_PER_DESCRIPTOR = 2e-6;
/** Keys and values of each of 32 layers are regions of their own. */
const DESCRIPTORS_PER_BLOCK = 64;
const LOOKUP_SECONDS = 8e-6;
const LOOKUP_SECONDS_PER_BLOCK = 0.4e-6;

const promptBlocks = ({ request }: TokenEvent, { blockSize }: EngineParameters): number =>
  Math.ceil(request.promptTokens / blockSize);
const postSeconds = (event: TokenEvent, parameters: EngineParameters): number =>
  promptBlocks(event, parameters) * DESCRIPTORS_PER_BLOCK * POST_SECONDS_PER_DESCRIPTOR;
const transferBytes = (event: TokenEvent, parameters: EngineParameters): number =>
  promptBlocks(event, parameters) * blockBytes(parameters);
const storedBytes = ({ stored: [blocks = 0] }: KvTrafficEvent, parameters: EngineParameters): number =>
  blocks * blockBytes(parameters);

const SIGNALS: Signals = {
  ...on<number>('iteration', { iteration_tokens: (tokens) => tokens }),
  ...on<ScheduledEvent>('admitted', {
    connector_queried_tokens: ({ request }, { offloadTiers }) =>
      offloadTiers.length === 0 ? 0 : request.promptTokens - deviceTokens(request),
    lookup_time: ({ request }, { blockSize }) =>
      LOOKUP_SECONDS +
      Math.floor((request.promptTokens - deviceTokens(request)) / blockSize) * LOOKUP_SECONDS_PER_BLOCK,
    // A prompt that is found is resolved when its blocks are there.
    deferred_lookup_time: ({ request: { offloadedTokens } }, parameters) =>
      sum(offloadedTokens) === 0
        ? null
        : loadSeconds(
            offloadedTokens.map((tokens) => tokens / parameters.blockSize),
            parameters,
          ),
  }),
  // As on the prefill side of a pair: the KV of each prompt goes over, and none fails.
  ...on<TokenEvent>('first_token', {
    transferred_bytes: transferBytes,
    transfer_descriptors: (event, parameters) => promptBlocks(event, parameters) * DESCRIPTORS_PER_BLOCK,
    transfer_post_time: postSeconds,
    transfer_time: (event, parameters) =>
      postSeconds(event, parameters) + transferBytes(event, parameters) / TRANSFER_BYTES_PER_SECOND,
  }),
  // What leaves the device is stored, and comes back for a prompt that needs it.
  ...on<KvTrafficEvent>('kv_traffic', {
    loaded_bytes: ({ loaded }, parameters) => ifAny(sum(loaded) * blockBytes(parameters)),
    load_time: ({ loaded }, parameters) => loadSeconds(loaded, parameters),
    stored_bytes: (event, parameters) => ifAny(storedBytes(event, parameters)),
    store_time: (event, parameters) => storedBytes(event, parameters) / TRANSFER_BYTES_PER_SECOND,
    tier_in_transfer: ({ stored: [stored = 0], loaded }, { offloadTiers: [cpu] }) =>
      Math.min(1, (sum(loaded) + stored) / (cpu?.blocks ?? Infinity)),
  }),
  // The step waits for what is loaded, and takes longer than what is stored.
  ...on<StepEvent>('step', { tier_at_rest: () => 0 }),
  ...on<RespondedRequest>('response', {
    response: () => 1,
    request_bytes: ({ requestBytes }) => requestBytes,
    response_bytes: ({ responseBytes }) => responseBytes,
    response_time: ({ seconds }) => seconds,
  }),
  ...at<EngineState>('state', {
    process_cpu_time: () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
    process_start_time: () => STARTED_S,
    process_resident_memory: () => process.memoryUsage.rss(),
    process_virtual_memory: () => fromProc('statm', (text) => Number(text.split(' ')[0]) * PAGE_BYTES),
    process_open_files: () => ifThere(() => readdirSync('/proc/self/fd').length),
    process_max_open_files: () => fromProc('limits', (text) => Number(/^Max open files\s+(\d+)/m.exec(text)?.[1])),
  }),
};

const STARTED_S = Date.now() / 1000 - process.uptime();

/** A figure of Linux' /proc; null where there is no such thing, as on other systems. */
function ifThere(read: () => number): number | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

function fromProc(file: string, figureOf: (text: string) => number): number | null {
  return ifThere(() => figureOf(readFileSync(`/proc/self/${file}`, 'latin1')));
}

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
    simple_cpu_offload_num_blocks: 'None',
    skip_page_size_padded: 'None',
    sliding_window: 'None',
    swa_bounded_replay: 'True',
    use_kda_recoverssm: 'False',
    use_replayssm: 'False',
    user_specified_block_size: 'False',
  };
}
