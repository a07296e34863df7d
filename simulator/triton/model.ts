import { GpuLoad } from '../dcgm/dcgm-metrics.ts';
import { Engine } from '../engine/engine.ts';
import type { AbortedEvent, EngineEvent, EngineState, FinishedEvent, StepEvent, TokenEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { EngineDriver, type MonotonicClock } from '../http/engine-driver.ts';
import { MODEL_BYTES } from '../engine/parameters.ts';
import { Feed } from '../metrics/feed.ts';
import type { MetricsPage } from '../metrics/page.ts';
import { at, blockBytes, on } from '../metrics/signals.ts';
import type { Signals } from '../metrics/signals.ts';

/** The backends of the simulated models. */
export type TritonBackend = 'tensorrtllm' | 'vllm';

export interface TritonModelOptions {
  readonly model: string;
  readonly backend: TritonBackend;
  readonly responseCache: boolean;
  readonly parameters: EngineParameters;
  readonly clock: MonotonicClock;
  readonly families: MetricsPage;
}

/** Where the time of one request went, in whole microseconds. */
interface RequestTimes {
  readonly queue_us: number;
  readonly input_us: number;
  readonly infer_us: number;
  readonly output_us: number;
}

const NANOSECONDS_PER_MICROSECOND = 1000;
const NANOSECONDS_PER_MILLISECOND = 1e6;
/** What it takes to hand inputs over and responses back. */
const INPUT_US = 47;
const OUTPUT_US = 20;
/** How long a Python backend needs to take a request over. */
const TAKE_OVER: RequestTimes = { queue_us: 238, input_us: INPUT_US, infer_us: 1625, output_us: 2 };
const MIN_CACHE_LOOKUP_US = 20;
const MAX_CACHE_LOOKUP_US = 250;

/**
 * A model that Triton serves, and what its page says of it. The TensorRT-LLM backend reports a request when its last
 * response is sent. The vLLM backend is a Python backend of decoupled models: it reports when it takes a request over, so
 * that no duration is that of a stream, an error that it responds with is a success, and so is a stream that is cut.
 */
export class TritonModel {
  readonly driver: EngineDriver;
  readonly gpu: GpuLoad;
  readonly #backend: TritonBackend;
  readonly #feed: Feed;
  readonly #blockSize: number;
  readonly #iterations = new Iterations(() => Date.now() * 1000);
  #successes = 0;

  constructor({ model, backend, responseCache, parameters, clock, families }: TritonModelOptions) {
    this.#backend = backend;
    this.#blockSize = parameters.blockSize;
    this.#feed = new Feed(families, {
      parameters,
      labels: { model, version: '1' },
      signals: SIGNALS,
      // Whole microseconds, as Triton counts them.
      inPageUnits: true,
      families: ({ name }) => {
        // A model with a response cache has no summary of whole requests.
        if (name === 'nv_inference_request_summary_us') return !responseCache;
        if (name.startsWith('nv_inference_')) return true;
        if (name.endsWith('_per_model')) return responseCache;
        return backend === 'vllm' ? name.startsWith('vllm:') : /^nv_(trt_)?llm_/.test(name);
      },
    });
    this.gpu = new GpuLoad(parameters);
    this.driver = new EngineDriver(new Engine(parameters), clock, (events) => this.observe(events));
  }

  observe(events: readonly EngineEvent[]): void {
    this.gpu.observe(events);
    this.#feed.observe(events);
    for (const event of events) {
      this.#iterations.observe(event, this.#blockSize);
      if (this.#backend === 'vllm') continue;
      if (event.kind === 'finished') this.#succeeded(timesOf(event));
      else if (event.kind === 'aborted') this.#feed.report('cancelled', event);
    }
  }

  /** The backend has a request now. */
  accepted(): void {
    if (this.#backend === 'vllm') this.#succeeded(TAKE_OVER);
  }

  /** The backend responds to a request with an error. */
  refused(): void {
    if (this.#backend === 'vllm') this.#succeeded(TAKE_OVER);
    else this.#feed.report('backend_failure', undefined);
  }

  /** The queue was full. */
  rejected(): void {
    this.#feed.report('rejected', undefined);
  }

  /** The response cache had the response: a success without an inference. */
  cacheHit(): void {
    this.#feed.report('cache_hit', this.#lookup_us());
    this.#successes++;
  }

  /** The response cache did not have it: looked up, and inserted when the response was there. */
  cacheMiss(): void {
    this.#feed.report('cache_miss', 2 * this.#lookup_us());
  }

  update(): void {
    const state = this.driver.state();
    // A Python backend takes everything at once: what waits, waits inside it.
    this.#feed.report('queue', this.#backend === 'vllm' ? 0 : state.waiting);
    if (this.#backend === 'tensorrtllm') {
      const step = state.running > 0 ? this.#iterations.lastStep : null;
      this.#feed.report('snapshot', { state, step, iterations: this.#iterations } satisfies Snapshot);
    }
  }

  #succeeded(times: RequestTimes): void {
    this.#successes++;
    this.#feed.report('success', times);
  }

  #lookup_us(): number {
    return MIN_CACHE_LOOKUP_US + (this.#successes % (MAX_CACHE_LOOKUP_US - MIN_CACHE_LOOKUP_US));
  }
}

function timesOf({ request, time_ns }: FinishedEvent): RequestTimes {
  const microseconds = (from_ns: number, to_ns: number): number =>
    Math.round((to_ns - from_ns) / NANOSECONDS_PER_MICROSECOND);
  const queue_us = microseconds(request.arrival_ns, request.scheduled_ns ?? time_ns);
  const compute_us = microseconds(request.arrival_ns, time_ns) - queue_us;
  const input_us = Math.min(INPUT_US, compute_us);
  const output_us = Math.min(OUTPUT_US, compute_us - input_us);
  return { queue_us, input_us, infer_us: compute_us - input_us - output_us, output_us };
}

/** What the TensorRT-LLM backend keeps account of between its snapshots. */
class Iterations {
  count = 0;
  at_us: number;
  lastStep: StepEvent | null = null;
  reusedBlocks = 0;
  /** Requests that were preempted and wait to be taken in again. */
  readonly paused = new Set<string>();
  readonly #wallMicroseconds: () => number;

  /** @param wallMicroseconds the present as Unix time */
  constructor(wallMicroseconds: () => number) {
    this.#wallMicroseconds = wallMicroseconds;
    this.at_us = wallMicroseconds();
  }

  observe(event: EngineEvent, blockSize: number): void {
    if (event.kind === 'step') {
      this.lastStep = event;
      this.count++;
      this.at_us = Math.floor(this.#wallMicroseconds());
    } else if (event.kind === 'preempted') this.paused.add(event.request.id);
    else if (event.kind === 'aborted') this.paused.delete(event.request.id);
    else if (event.kind === 'scheduled' && event.resumed) this.paused.delete(event.request.id);
    else if (event.kind === 'scheduled') this.reusedBlocks += event.request.cachedTokens / blockSize;
  }
}

interface Snapshot {
  readonly state: EngineState;
  /** The last iteration, while there is a next one. */
  readonly step: StepEvent | null;
  readonly iterations: Iterations;
}

const SIGNALS: Signals = {
  ...on<RequestTimes>('success', {
    successes: () => 1,
    request_time: ({ queue_us, input_us, infer_us, output_us }) => queue_us + input_us + infer_us + output_us,
    queue_time: ({ queue_us }) => queue_us,
    input_time: ({ input_us }) => input_us,
    inference_time: ({ infer_us }) => infer_us,
    output_time: ({ output_us }) => output_us,
  }),
  ...on<AbortedEvent>('cancelled', { cancellations: () => 1 }),
  ...on<undefined>('backend_failure', { backend_failures: () => 1 }),
  ...on<undefined>('rejected', { rejections: () => 1 }),
  ...on<TokenEvent>('first_token', {
    first_response_time: ({ request, time_ns }) =>
      Math.floor((time_ns - request.arrival_ns) / NANOSECONDS_PER_MILLISECOND),
  }),
  ...on<number>('cache_hit', {
    cache_hits: () => 1,
    cache_lookup_time: (lookup_us) => lookup_us,
    cached_queue_time: () => 0,
    cached_response_time: (lookup_us) => Math.floor(lookup_us / 1000),
  }),
  ...on<number>('cache_miss', { cache_misses: () => 1, cache_miss_time: (took_us) => took_us }),
  ...at<number>('queue', { pending_requests: (requests) => requests }),
  // A snapshot of the last iteration.
  ...at<Snapshot>('snapshot', {
    active_requests: ({ state }) => state.running + state.waiting,
    max_requests: (_, { maxNumSeqs }) => maxNumSeqs,
    scheduled_requests: ({ state }) => state.running,
    context_requests: ({ step }) => (step === null ? 0 : Math.max(0, step.sequences - step.decoding)),
    waiting_requests: ({ state }) => state.waiting,
    cpu_bytes: () => 1.2e9,
    gpu_bytes: ({ state }, parameters) => MODEL_BYTES + state.numKvBlocks * blockBytes(parameters),
    pinned_bytes: () => 64e6,
    all_blocks: ({ state }) => state.numKvBlocks,
    free_blocks: ({ state }) => state.numKvBlocks - state.usedKvBlocks,
    used_blocks: ({ state }) => state.usedKvBlocks,
    tokens_per_block: (_, { blockSize }) => blockSize,
    reused_blocks: ({ iterations }) => iterations.reusedBlocks,
    used_fraction: ({ state }) => state.usedKvBlocks / state.numKvBlocks,
    context_tokens: ({ step }) => step?.prefillTokens ?? 0,
    generation_requests: ({ step }) => step?.decoding ?? 0,
    paused_requests: ({ iterations }) => iterations.paused.size,
    iteration_timestamp: ({ iterations }) => iterations.at_us,
    iterations: ({ iterations }) => iterations.count,
  }),
};
