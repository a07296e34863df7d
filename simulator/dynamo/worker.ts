import type { GpuLoad } from '../dcgm/gpu-load.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineEvent, EngineRequest } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { EngineDriver } from '../http/engine-driver.ts';
import type { Reply } from '../http/engine-driver.ts';
import type { MonotonicClock } from '../http/monotonic-clock.ts';
import { LmcacheMetrics } from '../lmcache/lmcache-metrics.ts';
import { PageFamilies } from '../metrics/page-families.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import { VllmProfile } from '../vllm/profile.ts';
import type { DynamoInstance } from './instance.ts';
import { WorkerMetrics } from './worker-metrics.ts';
import { WORKER_PYTHON_PAGE } from './worker-page.ts';

/** How long the simulated worker took to load its model. */
const MODEL_LOAD_SECONDS = 38.4;

export interface DynamoWorkerOptions {
  readonly instance: DynamoInstance;
  readonly model: string;
  readonly parameters: EngineParameters;
  readonly clock: MonotonicClock;
  /** The GPU that it runs on, which is there longer than a worker. */
  readonly gpu: GpuLoad;
  /** Is shown what the engine did, before its tokens are sent. */
  readonly observe: (events: readonly EngineEvent[]) => void;
}

/**
 * A vLLM worker of Dynamo with LMCache: an engine, and the page of its system port. That is the runtime's own page,
 * then what the worker's Python part says, and vLLM's and LMCache's families passed through.
 */
export class DynamoWorker {
  readonly instance: DynamoInstance;
  readonly driver: EngineDriver;
  readonly #gpu: GpuLoad;
  readonly #runtime: WorkerMetrics;
  readonly #python = new PageFamilies({ catalogs: ['dynamo'], entries: WORKER_PYTHON_PAGE });
  readonly #vllm: VllmProfile;
  readonly #lmcache: LmcacheMetrics;
  readonly #clock: MonotonicClock;
  readonly #model: string;
  readonly #startedAt_ns: number;

  constructor({ instance, model, parameters, clock, gpu, observe }: DynamoWorkerOptions) {
    this.instance = instance;
    this.#model = model;
    this.#clock = clock;
    this.#startedAt_ns = clock.now_ns();
    this.#runtime = new WorkerMetrics(instance, model);
    this.#vllm = new VllmProfile({ modelName: model, parameters, engineOnly: true });
    this.#lmcache = new LmcacheMetrics(model, parameters);
    this.#gpu = gpu;
    this.#makeEmbeddingCache();
    this.driver = new EngineDriver(new Engine(parameters), clock, (events) => {
      this.#observe(events);
      observe(events);
    });
  }

  submit(request: EngineRequest, reply: Reply): void {
    this.#runtime.received(request.id, request.promptTokens, request.arrival_ns);
    this.driver.submit(request, reply);
  }

  page(): string {
    const state = this.driver.state();
    this.#lmcache.update(state);
    const labels = { model: this.#model, dynamo_component: 'backend' };
    const set = (name: string, own: object, value: number): void => {
      this.#python.gauge(`dynamo_component_${name}`).series({ ...labels, ...own }).value = value;
    };
    set('total_blocks', { dp_rank: '0' }, state.numKvBlocks);
    set('gpu_cache_usage_percent', { dp_rank: '0' }, state.usedKvBlocks / state.numKvBlocks);
    set('model_load_time_seconds', {}, MODEL_LOAD_SECONDS);
    return [
      this.#runtime.page(this.#clock.now_ns() - this.#startedAt_ns),
      writePage(this.#python.all(), FORMATS.PYTHON),
      this.#vllm.metricsPage(state),
      this.#lmcache.page(),
    ].join('');
  }

  #observe(events: readonly EngineEvent[]): void {
    this.#gpu.observe(events);
    this.#runtime.observe(events);
    this.#vllm.observe(events);
    this.#lmcache.observe(events);
  }

  #makeEmbeddingCache(): void {
    const labels = { model: this.#model, dynamo_component: 'backend' };
    for (const name of ['hits', 'misses', 'evictions']) {
      this.#python.counter(`dynamo_component_embedding_cache_${name}_total`).series(labels);
    }
    for (const name of ['utilization', 'current_bytes', 'entries']) {
      this.#python.gauge(`dynamo_component_embedding_cache_${name}`).series(labels);
    }
  }
}
