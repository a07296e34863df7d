import { GpuLoad } from '../dcgm/gpu-load.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineEvent, FinishedEvent, TokenEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { EngineDriver } from '../http/engine-driver.ts';
import type { MonotonicClock } from '../http/monotonic-clock.ts';
import type { PageFamilies } from '../metrics/page-families.ts';
import type { Scalar, Histogram } from '../metrics/family.ts';
import { TritonRequestMetrics } from './request-metrics.ts';
import { TrtllmBackendMetrics } from './trtllm-backend-metrics.ts';

/** The backends of the simulated models. */
export type TritonBackend = 'tensorrtllm' | 'vllm';

export interface TritonModelOptions {
  readonly model: string;
  readonly backend: TritonBackend;
  readonly responseCache: boolean;
  readonly parameters: EngineParameters;
  readonly clock: MonotonicClock;
  readonly families: PageFamilies;
}

const NANOSECONDS_PER_MICROSECOND = 1000;
const NANOSECONDS_PER_MILLISECOND = 1e6;
/** What it takes to hand inputs over and answers back. */
const INPUT_US = 47;
const OUTPUT_US = 20;
/** How long a Python backend needs to take a request over. */
const TAKE_OVER_US = { queue_us: 238, input_us: INPUT_US, infer_us: 1625, output_us: 2 };

/**
 * A model that Triton serves, and what its page says of it. The TensorRT-LLM backend reports a request when its last
 * answer is sent. The vLLM backend is a Python backend of decoupled models: it reports when it takes a request over, so
 * that no duration is that of a stream, an error that it answers is a success, and so is a stream that is cut.
 */
export class TritonModel {
  readonly driver: EngineDriver;
  readonly gpu: GpuLoad;
  readonly requests: TritonRequestMetrics;
  readonly #backend: TritonBackend;
  readonly #backendMetrics: TrtllmBackendMetrics | VllmBackendMetrics;
  readonly #pending: Scalar;

  constructor({ model, backend, responseCache, parameters, clock, families }: TritonModelOptions) {
    this.#backend = backend;
    this.#backendMetrics =
      backend === 'vllm'
        ? new VllmBackendMetrics(families, model)
        : new TrtllmBackendMetrics(families, model, parameters, () => Date.now() * 1000);
    this.requests = new TritonRequestMetrics(families, { model, responseCache });
    this.#pending = families.gauge('nv_inference_pending_request_count').series({ model, version: '1' });
    this.gpu = new GpuLoad(parameters);
    this.driver = new EngineDriver(new Engine(parameters), clock, (events) => this.observe(events));
  }

  observe(events: readonly EngineEvent[]): void {
    this.gpu.observe(events);
    this.#backendMetrics.observe(events);
    for (const event of events) {
      if (event.kind === 'token' && event.index === 0) {
        this.requests.firstResponse((event.time_ns - event.request.arrival_ns) / NANOSECONDS_PER_MILLISECOND);
      } else if (event.kind === 'finished') this.#finished(event);
      else if (event.kind === 'aborted' && this.#backend === 'tensorrtllm') this.requests.failed('CANCELED');
    }
  }

  /** The backend has a request now. */
  accepted(): void {
    if (this.#backend === 'vllm') this.requests.succeeded(TAKE_OVER_US);
  }

  /** The backend answers a request with an error. */
  refused(): void {
    if (this.#backend === 'vllm') this.requests.succeeded(TAKE_OVER_US);
    else this.requests.failed('BACKEND');
  }

  update(): void {
    const state = this.driver.state();
    // A Python backend takes everything at once: what waits, waits inside it.
    this.#pending.value = this.#backend === 'vllm' ? 0 : state.waiting;
    if (this.#backendMetrics instanceof TrtllmBackendMetrics) this.#backendMetrics.update(state);
  }

  #finished({ request, time_ns }: FinishedEvent): void {
    if (this.#backend === 'vllm') return;
    const microseconds = (from_ns: number, to_ns: number): number =>
      Math.round((to_ns - from_ns) / NANOSECONDS_PER_MICROSECOND);
    const queue_us = microseconds(request.arrival_ns, request.scheduled_ns ?? time_ns);
    const compute_us = microseconds(request.arrival_ns, time_ns) - queue_us;
    const input_us = Math.min(INPUT_US, compute_us);
    const output_us = Math.min(OUTPUT_US, compute_us - input_us);
    this.requests.succeeded({ queue_us, input_us, infer_us: compute_us - input_us - output_us, output_us });
  }
}

const SECONDS_PER_NANOSECOND = 1e-9;

/** The eight families of Triton's vLLM backend: vLLM's names, Triton's labels. */
class VllmBackendMetrics {
  readonly #promptTokens: Scalar;
  readonly #generationTokens: Scalar;
  readonly #timeToFirstToken: Histogram;
  readonly #timePerOutputToken: Histogram;
  readonly #endToEnd: Histogram;
  readonly #requestPromptTokens: Histogram;
  readonly #requestGenerationTokens: Histogram;
  readonly #n: Histogram;

  constructor(families: PageFamilies, model: string) {
    const labels = { model, version: '1' };
    const histogram = (name: string): Histogram => families.histogram(`vllm:${name}`).series(labels);
    this.#promptTokens = families.counter('vllm:prompt_tokens_total').series(labels);
    this.#generationTokens = families.counter('vllm:generation_tokens_total').series(labels);
    this.#timeToFirstToken = histogram('time_to_first_token_seconds');
    this.#timePerOutputToken = histogram('time_per_output_token_seconds');
    this.#endToEnd = histogram('e2e_request_latency_seconds');
    this.#requestPromptTokens = histogram('request_prompt_tokens');
    this.#requestGenerationTokens = histogram('request_generation_tokens');
    this.#n = histogram('request_params_n');
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'token') this.#token(event);
      else if (event.kind === 'finished') this.#finished(event);
    }
  }

  #token({ request, time_ns, previous_ns }: TokenEvent): void {
    this.#generationTokens.add(1);
    if (previous_ns !== null) {
      this.#timePerOutputToken.observe((time_ns - previous_ns) * SECONDS_PER_NANOSECOND);
      return;
    }
    this.#promptTokens.add(request.promptTokens);
    this.#timeToFirstToken.observe((time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND);
  }

  #finished({ request, time_ns }: FinishedEvent): void {
    this.#endToEnd.observe((time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND);
    this.#requestPromptTokens.observe(request.promptTokens);
    this.#requestGenerationTokens.observe(request.generatedTokens);
    this.#n.observe(1);
  }
}
