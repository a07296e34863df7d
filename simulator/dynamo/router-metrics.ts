import type { EngineEvent, TokenEvent } from '../engine/events.ts';
import type { PageFamilies } from '../metrics/page-families.ts';
import type { Histogram, Scalar } from '../metrics/family.ts';
import type { DynamoInstance } from './instance.ts';
import type { RoutedRequest } from './routed-request.ts';

const SECONDS_PER_NANOSECOND = 1e-9;
const MILLISECONDS_PER_SECOND = 1000;
const COMPONENT = { dynamo_component: 'backend', dynamo_namespace: 'dynamo' };
const EVENT_TYPES = ['stored', 'removed', 'cleared'];
const EVENT_STATUSES = [
  'ok',
  'parent_block_not_found',
  'block_not_found',
  'invalid_block',
  'capacity_exhausted',
  'indexer_invariant_violation',
  'allocation_failed',
  'ownership_degree_overflow',
];

interface RouterMetricsOptions {
  /** Of the frontend's HTTP service, which holds what routing costs. */
  readonly http: PageFamilies;
  /** Of its runtime, which holds everything else of the router. */
  readonly runtime: PageFamilies;
  /** The frontend itself. */
  readonly self: DynamoInstance;
  readonly model: string;
}

/** What the frontend's KV router counts. Its inter-token latency stays without observations, as in Dynamo 1.4.2. */
export class RouterMetrics {
  readonly #options: RouterMetricsOptions;
  readonly #requests = new Map<string, RoutedRequest>();
  readonly #labels: {
    readonly dynamo_component: string;
    readonly dynamo_namespace: string;
    readonly worker_id: string;
  };
  readonly #router: (name: string) => Histogram;
  readonly #started: Scalar;
  readonly #processed: Scalar;
  readonly #eventsApplied: (eventType: string) => Scalar;
  readonly #zmqWorkers: (change: number) => void;

  constructor(options: RouterMetricsOptions) {
    this.#options = options;
    const { http, runtime, self, model } = options;
    const labels = { ...COMPONENT, worker_id: self.hex };
    const ofRouter = { ...labels, router_id: self.decimal };
    this.#labels = labels;
    this.#router = (name) => runtime.histogram(`dynamo_component_router_${name}`).series(ofRouter);
    for (const name of ROUTER_HISTOGRAMS) this.#router(name);
    const counter = (name: string): Scalar => runtime.counter(`dynamo_component_router_${name}`).series(ofRouter);
    this.#started = counter('requests_started_total');
    this.#processed = counter('requests_total');
    counter('remote_indexer_query_failures_total');
    counter('remote_indexer_write_failures_total');
    const applied = runtime.counter('dynamo_component_kv_cache_events_applied');
    for (const event_type of EVENT_TYPES) {
      for (const status of EVENT_STATUSES) applied.series({ ...labels, event_type, status });
    }
    this.#eventsApplied = (event_type) => applied.series({ ...labels, event_type, status: 'ok' });
    const warnings = runtime.counter('dynamo_component_kv_cache_event_warnings');
    warnings.series({ ...labels, warning_kind: 'duplicate_store' });
    for (const outcome of ['capacity_exhausted', 'unknown_remove']) {
      runtime.counter('dynamo_component_ckf_mutation_total').series({ ...labels, outcome });
    }
    runtime.gauge('dynamo_component_router_kv_event_source_mismatch_workers').series({
      ...labels,
      model,
      target_namespace: 'dynamo',
      target_component: 'backend',
      target_endpoint: 'generate',
      worker_type: 'decode',
    });
    this.#zmqWorkers = makeZmqIngress(runtime, labels);
    for (const name of OVERHEADS)
      http.histogram(`dynamo_router_overhead_${name}_ms`).series({ router_id: self.decimal });
    http.counter('dynamo_router_shared_cache_errors_total').series({ router_id: self.decimal });
  }

  /** A worker has come (1) or gone (0). */
  registered(worker: DynamoInstance, value: 0 | 1): void {
    const labels = { ...this.#labels, router_worker_id: worker.decimal, dp_rank: '0', worker_type: 'decode' };
    this.#options.runtime.gauge('dynamo_component_router_worker_registered').series(labels).value = value;
    this.#zmqWorkers(value === 1 ? 1 : -1);
  }

  routed(request: RoutedRequest): void {
    this.#requests.set(request.id, request);
    this.#started.add(1);
    this.#processed.add(1);
    this.#router('input_sequence_tokens').observe(request.promptTokens);
    this.#router('kv_hit_rate').observe(request.predictedHitRatio);
    const { blockHashing, sequenceHashing, findMatches, schedule } = request.times;
    this.#overhead('block_hashing', blockHashing);
    this.#overhead('seq_hashing', sequenceHashing);
    this.#overhead('indexer_find_matches', findMatches);
    this.#overhead('scheduling', schedule);
    this.#overhead('total', blockHashing + sequenceHashing + findMatches + schedule);
  }

  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'token' && event.index === 0) this.#firstToken(event);
      else if (event.kind === 'finished' || event.kind === 'aborted') {
        if (!this.#requests.delete(event.request.id)) continue;
        this.#router('output_sequence_tokens').observe(event.request.generatedTokens);
      } else if (event.kind === 'kv-traffic') this.#eventsApplied('removed').add(event.evicted);
    }
  }

  /** The worker of a request is gone. */
  lost(id: string): void {
    this.#requests.delete(id);
  }

  #firstToken({ request, time_ns }: TokenEvent): void {
    const routed = this.#requests.get(request.id);
    if (routed === undefined) return;
    this.#router('time_to_first_token_seconds').observe((time_ns - routed.arrival_ns) * SECONDS_PER_NANOSECOND);
    if (request.cachedTokens < request.promptTokens) this.#eventsApplied('stored').add(1);
  }

  #overhead(name: string, seconds: number): void {
    const family = this.#options.http.histogram(`dynamo_router_overhead_${name}_ms`);
    family.series({ router_id: this.#options.self.decimal }).observe(seconds * MILLISECONDS_PER_SECOND);
  }
}

const ROUTER_HISTOGRAMS = [
  'input_sequence_tokens',
  'inter_token_latency_seconds',
  'kv_hit_rate',
  'kv_transfer_estimated_latency_seconds',
  'output_sequence_tokens',
  'shared_cache_beyond_blocks',
  'shared_cache_hit_rate',
  'time_to_first_token_seconds',
];

const OVERHEADS = ['block_hashing', 'indexer_find_matches', 'scheduling', 'seq_hashing', 'shared_cache_query', 'total'];

/** The sources of KV events: one per worker, which goes through its life cycle at once. */
function makeZmqIngress(runtime: PageFamilies, labels: Readonly<Record<string, string>>): (change: number) => void {
  const name = 'dynamo_component_router_kv_zmq_ingress';
  runtime.counter(`${name}_batches_total`).series(labels);
  const lifecycle = ['activated', 'preconnected', 'started'].map((action) =>
    runtime.counter(`${name}_lifecycle_total`).series({ ...labels, action }),
  );
  runtime.gauge(`${name}_sources`).series({ ...labels, state: 'preconnected' });
  const active = runtime.gauge(`${name}_sources`).series({ ...labels, state: 'active' });
  return (change) => {
    active.value += change;
    if (change > 0) for (const counter of lifecycle) counter.add(change);
  };
}
