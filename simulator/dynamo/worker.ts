import type { GpuLoad } from '../dcgm/dcgm-metrics.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineEvent, EngineRequest, EngineState, TokenEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { EngineDriver, type Reply, type MonotonicClock } from '../http/engine-driver.ts';
import { LmcacheMetrics } from '../lmcache/lmcache-metrics.ts';
import { Feed } from '../metrics/feed.ts';
import { at, on, seconds } from '../metrics/signals.ts';
import type { Signals } from '../metrics/signals.ts';
import { FORMATS } from '../metrics/write-page.ts';
import { VllmProfile } from '../vllm/profile.ts';
import { dynamoPage } from './page.ts';
import { requestBytes } from './routed-request.ts';
import type { DynamoInstance } from './routed-request.ts';

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
  readonly #runtime: Feed;
  readonly #python: Feed;
  readonly #vllm: VllmProfile;
  readonly #lmcache: LmcacheMetrics;
  readonly #clock: MonotonicClock;
  /** When each request that it works on came in. */
  readonly #inFlight = new Map<string, number>();
  readonly #startedAt_ns: number;

  constructor({ instance, model, parameters, clock, gpu, observe }: DynamoWorkerOptions) {
    this.instance = instance;
    this.#clock = clock;
    this.#startedAt_ns = clock.now_ns();
    const component = { dynamo_namespace: 'dynamo', dynamo_component: 'backend' };
    this.#runtime = new Feed(dynamoPage(['worker']), {
      parameters,
      labels: {
        ...component,
        ...{ worker_id: instance.hex, dynamo_endpoint: 'generate', model, model_name: model },
        ...{ event_type: 'stored', reason: 'unknown' },
      },
      signals: SIGNALS,
      fromStart: ({ name }) => name !== 'dynamo_component_uptime_seconds',
    });
    this.#python = new Feed(dynamoPage(['worker_python'], FORMATS.PYTHON), {
      parameters,
      labels: { model, dp_rank: '0', ...component },
      signals: SIGNALS,
    });
    this.#queried();
    this.#vllm = new VllmProfile({ modelName: model, parameters, engineOnly: true });
    this.#lmcache = new LmcacheMetrics(model, parameters);
    this.#gpu = gpu;
    this.driver = new EngineDriver(new Engine(parameters), clock, (events) => {
      this.#observe(events);
      observe(events);
    });
  }

  submit(request: EngineRequest, reply: Reply): void {
    this.#inFlight.set(request.id, request.arrival_ns);
    this.#runtime.report('received', request);
    this.driver.submit(request, reply);
  }

  page(): string {
    const state = this.driver.state();
    this.#lmcache.update(state);
    this.#python.update(state);
    this.#runtime.report('in_flight', this.#inFlight.size);
    const uptime = this.#runtime.scalar('dynamo_component_uptime_seconds', { worker_id: this.instance.hex });
    uptime.value = seconds(this.#startedAt_ns, this.#clock.now_ns());
    return [this.#runtime.text(), this.#python.text(), this.#vllm.metricsPage(state), this.#lmcache.page()].join('');
  }

  #observe(events: readonly EngineEvent[]): void {
    this.#gpu.observe(events);
    this.#runtime.observe(events);
    this.#vllm.observe(events);
    this.#lmcache.observe(events);
    for (const event of events) {
      if (event.kind !== 'finished' && event.kind !== 'aborted') continue;
      const arrival_ns = this.#inFlight.get(event.request.id);
      if (arrival_ns === undefined) continue;
      this.#inFlight.delete(event.request.id);
      this.#runtime.report('request_end', Math.max(0, seconds(arrival_ns, event.time_ns)));
    }
  }

  /** The router has a first look at the cache, by an endpoint whose name differs at every start. */
  #queried(): void {
    const labels = { dynamo_endpoint: `worker_kv_query_source_${this.instance.hex.slice(0, 13)}` };
    this.#runtime.scalar('dynamo_component_requests_total', labels).add(1);
    this.#runtime.scalar('dynamo_component_request_bytes_total', labels).add(452);
    this.#runtime.scalar('dynamo_component_response_bytes_total', labels).add(73);
    this.#runtime.histogram('dynamo_component_request_duration_seconds', labels).observe(0.0045);
    for (const name of ['inflight_requests', 'cancellation_total']) {
      this.#runtime.scalar(`dynamo_component_${name}`, labels);
    }
    this.#runtime.report('query', undefined);
  }
}

const TRANSIT_SECONDS = 0.0004;
const FIRST_RESPONSE_SECONDS = 0.0012;
/** On the wire between worker and frontend. */
const RESPONSE_BYTES_PER_TOKEN = 134;

/** The runtime counts requests as they are received, their time when they have ended. */
const SIGNALS: Signals = {
  ...at<undefined>('start', {
    pool_capacity: () => 10_000,
    queue_capacity: () => 40_000,
    model_load_time: () => 38.4,
  }),
  ...at<EngineState>('state', { total_blocks: ({ numKvBlocks }) => numKvBlocks }),
  ...at<number>('in_flight', { worker_in_flight: (requests) => requests }),
  ...on<EngineRequest>('received', {
    received_requests: () => 1,
    received_bytes: ({ promptTokens }) => requestBytes(promptTokens),
    transit_time: () => TRANSIT_SECONDS,
    first_response_time: () => FIRST_RESPONSE_SECONDS,
  }),
  ...on<undefined>('query', {
    query_transit_time: () => TRANSIT_SECONDS,
    query_first_response_time: () => FIRST_RESPONSE_SECONDS,
  }),
  ...on<TokenEvent>('token', { response_bytes: () => RESPONSE_BYTES_PER_TOKEN }),
  // A prompt's new blocks were published: one event, which the relay takes in and passes on.
  ...on<TokenEvent>('first_token', {
    published_events: ({ request }) => (request.cachedTokens < request.promptTokens ? 1 : 0),
  }),
  ...on<number>('request_end', { worker_duration: (duration_s) => duration_s }),
};
