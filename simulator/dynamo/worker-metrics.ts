import type { EngineEvent, RequestProgress } from '../engine/events.ts';
import type { Labels } from '../metrics/family.ts';
import type { Histogram, Scalar } from '../metrics/family.ts';
import { FORMATS, writePage } from '../metrics/write-page.ts';
import { dynamoFamilies } from './families.ts';
import { requestBytes } from './frontend-metrics.ts';
import type { DynamoInstance } from './instance.ts';
import { WORKER_PAGE } from './worker-page.ts';

const SECONDS_PER_NANOSECOND = 1e-9;
const POOL_CAPACITY = 10_000;
const QUEUE_CAPACITY = 40_000;
/** On the wire between worker and frontend. */
const RESPONSE_BYTES_PER_TOKEN = 134;
/** The router's first look at a worker's cache. */
const QUERY = { seconds: 0.0045, requestBytes: 452, responseBytes: 73 };
const NETWORK_TRANSIT_SECONDS = 0.0004;
const FIRST_RESPONSE_SECONDS = 0.0012;

interface WorkHandler {
  readonly requests: Scalar;
  readonly inflight: Scalar;
  readonly cancellations: Scalar;
  readonly requestBytes: Scalar;
  readonly responseBytes: Scalar;
  readonly duration: Histogram;
}

/**
 * What the runtime of a worker counts: requests as they are received, their time when they have ended. The endpoint
 * `generate` has the requests of clients; another, whose name differs at every start, answers the router.
 */
export class WorkerMetrics {
  readonly #families = dynamoFamilies(WORKER_PAGE);
  readonly #component: Labels;
  readonly #generate: WorkHandler;
  readonly #model: string;
  readonly #inFlight = new Map<string, number>();

  constructor(self: DynamoInstance, model: string) {
    this.#model = model;
    this.#component = { dynamo_namespace: 'dynamo', dynamo_component: 'backend', worker_id: self.hex };
    this.#generate = this.#workHandler('generate');
    this.#makeOthers();
    const query = this.#workHandler(`worker_kv_query_source_${self.hex.slice(0, 13)}`);
    query.requests.add(1);
    query.requestBytes.add(QUERY.requestBytes);
    query.responseBytes.add(QUERY.responseBytes);
    query.duration.observe(QUERY.seconds);
    this.#received();
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'token') {
        this.#generate.responseBytes.add(RESPONSE_BYTES_PER_TOKEN);
        if (event.index === 0) this.#published(event.request);
      } else if (event.kind === 'finished') this.#ended(event.request, event.time_ns);
      else if (event.kind === 'aborted') {
        this.#generate.cancellations.add(1);
        this.#ended(event.request, event.time_ns);
      }
    }
  }

  /** A request came in. */
  received(id: string, promptTokens: number, arrival_ns: number): void {
    this.#inFlight.set(id, arrival_ns);
    this.#generate.requests.add(1);
    this.#generate.requestBytes.add(requestBytes(promptTokens));
    this.#received();
  }

  /** @param now_ns since the start of the worker */
  page(now_ns: number): string {
    const inFlight = this.#inFlight.size;
    this.#generate.inflight.value = inFlight;
    this.#families.gauge('dynamo_engine_request').series().value = inFlight;
    this.#families.gauge('dynamo_work_handler_pool_active_tasks').series().value = inFlight;
    const { worker_id = '' } = this.#component;
    this.#families.gauge('dynamo_component_uptime_seconds').series({ worker_id }).value =
      now_ns * SECONDS_PER_NANOSECOND;
    return writePage(this.#families.all(), FORMATS.RUST);
  }

  #received(): void {
    const observe = (name: string, seconds: number): void =>
      this.#families.histogram(`dynamo_work_handler_${name}_seconds`).series().observe(seconds);
    observe('network_transit', NETWORK_TRANSIT_SECONDS);
    observe('time_to_first_response', FIRST_RESPONSE_SECONDS);
  }

  #zmqEvents(stage: string): Scalar {
    const labels = { ...this.#component, stage, event_type: 'stored' };
    return this.#families.counter('dynamo_component_kv_publisher_zmq_events_total').series(labels);
  }

  /** A prompt's new blocks were published: one event, which the relay takes in and passes on. */
  #published({ promptTokens, cachedTokens }: RequestProgress): void {
    if (cachedTokens === promptTokens) return;
    for (const stage of ['received', 'accepted']) this.#zmqEvents(stage).add(1);
  }

  #ended({ id }: RequestProgress, time_ns: number): void {
    const arrival_ns = this.#inFlight.get(id);
    if (arrival_ns === undefined) return;
    this.#inFlight.delete(id);
    this.#generate.duration.observe(Math.max(0, time_ns - arrival_ns) * SECONDS_PER_NANOSECOND);
  }

  #workHandler(endpoint: string): WorkHandler {
    const labels = { ...this.#component, dynamo_endpoint: endpoint };
    const counter = (name: string): Scalar => this.#families.counter(`dynamo_component_${name}_total`).series(labels);
    return {
      requests: counter('requests'),
      inflight: this.#families.gauge('dynamo_component_inflight_requests').series(labels),
      cancellations: counter('cancellation'),
      requestBytes: counter('request_bytes'),
      responseBytes: counter('response_bytes'),
      duration: this.#families.histogram('dynamo_component_request_duration_seconds').series(labels),
    };
  }

  #makeOthers(): void {
    const families = this.#families;
    families.counter('dynamo_component_kv_publisher_engines_dropped_events_total').series(this.#component);
    for (const stage of ['received', 'accepted']) this.#zmqEvents(stage);
    for (const name of ['filtered_events', 'conversion_issues', 'suspicious_events']) {
      const labels = { ...this.#component, event_type: 'stored', reason: 'unknown' };
      families.counter(`dynamo_component_kv_publisher_zmq_${name}_total`).series(labels);
    }
    const model = { model: this.#model, model_name: this.#model };
    for (const error_type of families.labelValues('dynamo_component_errors_total', 'error_type')) {
      const labels = { ...this.#component, ...model, dynamo_endpoint: 'generate', error_type };
      families.counter('dynamo_component_errors_total').series(labels);
    }
    families.gauge('dynamo_request_queue').series();
    families.counter('dynamo_rejection_request_total').series();
    families.counter('dynamo_work_handler_enqueue_rejected_total').series();
    families.histogram('dynamo_work_handler_permit_wait_seconds').series();
    families.gauge('dynamo_work_handler_pool_capacity').series().value = POOL_CAPACITY;
    families.gauge('dynamo_work_handler_queue_capacity').series().value = QUEUE_CAPACITY;
    families.gauge('dynamo_work_handler_queue_depth').series();
  }
}
