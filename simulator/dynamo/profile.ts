import { seededRandom } from '../../core/stats/seeded-random.ts';
import { systemResponses } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/table.ts';
import type { EngineEvent, EngineState, KvTrafficEvent, TokenEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { Feed } from '../metrics/feed.ts';
import { at, on, seconds } from '../metrics/signals.ts';
import type { Signals } from '../metrics/signals.ts';
import type { RespondedRequest, ServerProfile } from '../start.ts';
import { dynamoPage } from './page.ts';
import { endpointOf, isEndpoint, requestBytes, routeSeconds } from './routed-request.ts';
import type { DynamoInstance, RoutedRequest } from './routed-request.ts';
import { TOKIO_SIGNALS, TokioRuntime } from './tokio-runtime.ts';

/** Why a request failed, as `error_type`. */
type FrontendError = 'validation' | 'not_found' | 'overload' | 'cancelled' | 'internal';

/** What a refusal counts as; other responses are counted by the outcome of the request. */
const REFUSALS: Readonly<Record<number, FrontendError>> = {
  400: 'validation',
  404: 'not_found',
  429: 'overload',
  503: 'overload',
};

/** A request that a worker has, and what the frontend has seen of its response. */
interface Tracked extends RoutedRequest {
  /** Tokens of the prompt that the tokenizer's cache had. */
  readonly templateTokens: number;
  /** Prompt tokens that the worker had in its cache. */
  foundTokens: number;
  firstToken_ns: number | null;
  /** Between the latest two tokens. */
  gap_s: number;
  generatedTokens: number;
}

/**
 * The frontend of Dynamo 1.6.1 with its KV router: two registries, one page. A family with a label has no series before
 * the first request. Time to first token and input length are observed at the first token, so failed requests may be
 * missing there; a first token is no inter-token observation. The router's own inter-token latency stays without
 * observations, as in Dynamo 1.6.1.
 */
export class DynamoProfile implements ServerProfile {
  readonly ownedBy = 'nvidia';
  readonly metricsContentType = 'text/plain; charset=utf-8';
  readonly responses = systemResponses(DIALECTS.dynamo);
  readonly #http: Feed;
  readonly #runtime: Feed;
  readonly #tokio: TokioRuntime;
  readonly #self: DynamoInstance;
  readonly #blockSize: number;
  readonly #requests = new Map<string, Tracked>();
  /** Workers that have ever had a request. */
  readonly #workers = new Set<string>();
  #registered = 0;

  constructor(self: DynamoInstance, model: string, parameters: EngineParameters) {
    this.#self = self;
    this.#blockSize = parameters.blockSize;
    const labels = { model, router_id: self.decimal, dp_rank: '0', worker_type: 'decode', ...DEFAULTS };
    this.#http = new Feed(dynamoPage(['frontend']), {
      parameters,
      labels,
      labelsOf: {
        endpoint: ({ route }: { readonly route: string }) => endpointOf(route),
        request_type: ({ streaming }: { readonly streaming: boolean }) => (streaming ? 'stream' : 'unary'),
        status: ({ error }: CountedEnd) => (error === null ? 'success' : 'error'),
        error_type: ({ error }: CountedEnd) => error ?? '',
        worker_id: ({ worker }: Pick<RoutedRequest, 'worker'>) => worker.decimal,
        worker: ({ worker }: { readonly worker: number }) => `${worker}`,
      },
      values: { worker: TokioRuntime.workers, error_type: ['request_failed'] },
      signals: SIGNALS,
      fromStart: ({ name, exposed }) => OF_MODEL.test(name) || (exposed !== 'on_use' && !COME_LATER.test(name)),
    });
    this.#runtime = new Feed(dynamoPage(['runtime']), {
      parameters,
      labels: { ...labels, ...COMPONENT, ...TARGET, worker_id: self.hex },
      labelsOf: { router_worker_id: ({ worker }: Registration) => worker.decimal },
      values: { action: ['activated', 'preconnected', 'started'], state: ['preconnected', 'active'] },
      signals: SIGNALS,
      fromStart: ({ name }) => name !== 'dynamo_component_uptime_seconds' && !COME_LATER.test(name),
    });
    // They are about prefill workers, of which there are none here.
    this.#runtime.scalar('dynamo_component_router_non_max_overlap_selections_total', PREFILL);
    this.#runtime.histogram('dynamo_component_router_overlap_blocks_lost', PREFILL);
    this.#tokio = new TokioRuntime(this.#http, seededRandom(parameters.seed));
  }

  /** The first look at a worker is a round trip as well. */
  workerCame(worker: DynamoInstance): void {
    this.#registered++;
    this.#register(worker, true);
    this.#runtime.report('worker_arrival', undefined);
    this.#http.report('worker_query', undefined);
  }

  workerLeft(worker: DynamoInstance): void {
    this.#registered--;
    this.#register(worker, false);
  }

  /** A request was accepted and given to a worker. */
  routed(request: RoutedRequest): void {
    // The template's first token is the same in every prompt, and the first prompt brings it in.
    const templateTokens = this.#workers.size > 0 ? 1 : 0;
    const tracked = { ...request, templateTokens, foundTokens: 0, firstToken_ns: null, gap_s: 0, generatedTokens: 0 };
    this.#requests.set(request.id, tracked);
    this.#workers.add(request.worker.decimal);
    this.#report('routed', tracked);
    this.#http.scalar('dynamo_frontend_output_tokens_total');
    this.#http.histogram('dynamo_frontend_image_tokens_per_request');
  }

  /** The worker of a request is gone. It would be moved to another one, if the limit were not 0. */
  lost(id: string, now_ns: number): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#http.report('lost', request);
    this.#end(request, now_ns, 'internal');
  }

  /** Takes up what the workers' engines did. */
  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'kv-traffic') this.#runtime.report('kv_traffic', event);
      if (event.kind !== 'token' && event.kind !== 'finished' && event.kind !== 'aborted') continue;
      if (event.kind === 'token') this.#tokio.chunk();
      const request = this.#requests.get(event.request.id);
      if (request === undefined) continue;
      if (event.kind === 'token') this.#chunk(request, event);
      else {
        if (event.kind === 'aborted') {
          this.#http.scalar('dynamo_frontend_disconnected_clients').add(1);
          this.#http.report('cancelled', request);
        }
        this.#runtime.report('ended', request);
        this.#end(request, event.time_ns, event.kind === 'aborted' ? 'cancelled' : null);
      }
    }
  }

  responded({ handler, status }: RespondedRequest): void {
    const error = REFUSALS[status];
    if (!isEndpoint(handler) || error === undefined) return;
    this.#http.report('counted_end', { route: handler, streaming: false, error } satisfies CountedEnd);
  }

  metricsPage({ now_ns, running, waiting }: EngineState): string {
    if (this.#workers.size > 0) this.#setLoad(now_ns);
    this.#tokio.update(now_ns, running + waiting);
    const uptime = this.#runtime.scalar('dynamo_component_uptime_seconds', { worker_id: this.#self.hex });
    uptime.value = seconds(0, now_ns);
    return this.#http.text() + this.#runtime.text();
  }

  #register(worker: DynamoInstance, isThere: boolean): void {
    this.#report('registration', { worker, isThere, registered: this.#registered } satisfies Registration);
  }

  #report(occasion: string, event: unknown): void {
    this.#http.report(occasion, event);
    this.#runtime.report(occasion, event);
  }

  #chunk(request: Tracked, { request: { cachedTokens }, time_ns, previous_ns }: TokenEvent): void {
    request.generatedTokens++;
    this.#http.report('chunk', request);
    if (previous_ns !== null) {
      request.gap_s = seconds(previous_ns, time_ns);
      this.#http.report('chunk_gap', request);
      return;
    }
    request.firstToken_ns = time_ns;
    request.foundTokens = cachedTokens;
    this.#report('first_chunk', request);
    this.#http.histogram('dynamo_frontend_inter_token_latency_seconds');
  }

  #end(request: Tracked, time_ns: number, error: FrontendError | null): void {
    this.#requests.delete(request.id);
    const { route, streaming, generatedTokens } = request;
    this.#http.report('counted_end', { route, streaming, error } satisfies CountedEnd);
    const duration_s = Math.max(0, seconds(request.arrival_ns, time_ns));
    this.#http.report('response_end', { duration_s, generatedTokens } satisfies ResponseEnd);
  }

  #setLoad(now_ns: number): void {
    const all = [...this.#requests.values()];
    const beforeFirst = all.filter((request) => request.firstToken_ns === null);
    const preprocessing = beforeFirst.filter((request) => request.dispatched_ns > now_ns).length;
    const load: Load = { inFlight: all.length, beforeFirst: beforeFirst.length, preprocessing };
    this.#http.report('load', load);
    for (const decimal of this.#workers) {
      let blocks = 0;
      let prefillTokens = 0;
      for (const request of all) {
        if (request.worker.decimal !== decimal) continue;
        blocks += Math.ceil((request.promptTokens + request.generatedTokens) / this.#blockSize);
        if (request.firstToken_ns === null) prefillTokens += request.prefillTokens;
      }
      this.#http.report('worker_load', { worker: { decimal }, blocks, prefillTokens } satisfies WorkerLoad);
    }
  }
}

interface CountedEnd {
  readonly route: string;
  readonly streaming: boolean;
  readonly error: FrontendError | null;
}

interface ResponseEnd {
  readonly duration_s: number;
  readonly generatedTokens: number;
}

interface Registration {
  readonly worker: DynamoInstance;
  readonly isThere: boolean;
  /** Workers that are registered now. */
  readonly registered: number;
}

interface Load {
  readonly inFlight: number;
  readonly beforeFirst: number;
  readonly preprocessing: number;
}

interface WorkerLoad {
  readonly worker: { readonly decimal: string };
  readonly blocks: number;
  readonly prefillTokens: number;
}

const COMPONENT = { dynamo_component: 'backend', dynamo_namespace: 'dynamo' };
const TARGET = { target_namespace: 'dynamo', target_component: 'backend', target_endpoint: 'generate' };

const DEFAULTS = { policy_class: 'default', routing_group: 'default', phase: 'aggregated' };
const PREFILL = { worker_type: 'prefill' };

/** Families without series at first, though they do not need a request: each has one of its own. */
const COME_LATER =
  /_(stage_duration_seconds|image_tokens_per_request|model_migration_total|model_rejection_total|router_input_sequence_tokens|kv_(best_eligible|selected)_cached_prefix_tokens_total|kv_worker_reused_tokens_total|non_max_overlap_selections_total|overlap_blocks_lost)$/;
/** Families that come with a model, which is there from the start. */
const OF_MODEL = /^dynamo_frontend_router_admission_(received|rejected)_total$/;

const DETOKENIZE_SECONDS = 12e-6;

const SIGNALS: Signals = {
  ...TOKIO_SIGNALS,
  ...at<undefined>('start', {
    max_batched_tokens: (_, { maxNumBatchedTokens }) => maxNumBatchedTokens,
    max_running: (_, { maxNumSeqs }) => maxNumSeqs,
    migration_limit: () => 0,
  }),
  ...at<Registration>('registration', {
    worker_registered: ({ isThere }) => (isThere ? 1 : 0),
    registered_workers: ({ registered }) => registered,
    model_ready: ({ registered }) => (registered > 0 ? 1 : 0),
  }),
  // A worker's source of KV events goes through its life cycle at once.
  ...on<undefined>('worker_arrival', { worker_arrivals: () => 1 }),
  ...on<undefined>('worker_query', {
    query_round_trip: () => 0.007,
    query_queue_time: () => 20e-6,
    query_send_time: () => 200e-6,
  }),
  ...on<Tracked>('routed', {
    routed_requests: () => 1,
    // No simulated request has any.
    attachments: () => 0,
    template_time: ({ times }) => times.template,
    tokenize_time: ({ times }) => times.tokenize,
    preprocess_time: ({ times }) => times.template + times.tokenize,
    route_time: ({ times }) => routeSeconds(times),
    block_hashing_time: ({ times }) => times.blockHashing,
    sequence_hashing_time: ({ times }) => times.sequenceHashing,
    find_matches_time: ({ times }) => times.findMatches,
    scheduling_time: ({ times }) => times.schedule,
    dispatch_queue_time: ({ times }) => times.queue,
    dispatch_send_time: ({ times }) => times.send,
    sent_bytes: ({ promptTokens }) => requestBytes(promptTokens),
    tokenizer_cache_hits: ({ templateTokens }) => templateTokens,
    tokenizer_cache_misses: ({ templateTokens }) => 1 - templateTokens,
    tokenizer_cached_tokens: ({ templateTokens }) => templateTokens,
    tokenizer_uncached_tokens: ({ promptTokens, templateTokens }) => promptTokens - templateTokens,
    routed_prompt_tokens: ({ promptTokens }) => promptTokens,
    predicted_hit_ratio: ({ predictedHitRatio }) => predictedHitRatio,
    selected_cached_tokens: ({ cachedTokens }) => cachedTokens,
    best_cached_tokens: ({ mostCachedTokens }) => mostCachedTokens,
  }),
  ...on<Tracked>('chunk', { chunks: () => 1, chunk_detokenize_time: () => DETOKENIZE_SECONDS }),
  ...on<Tracked>('chunk_gap', { chunk_gap: ({ gap_s }) => gap_s }),
  ...on<Tracked>('first_chunk', {
    first_chunk_time: ({ arrival_ns, firstToken_ns }) => seconds(arrival_ns, firstToken_ns ?? NaN),
    first_chunk_prompt_tokens: ({ promptTokens }) => promptTokens,
    first_chunk_cached_tokens: ({ foundTokens }) => foundTokens,
    first_round_trip: ({ dispatched_ns, firstToken_ns, times }) =>
      seconds(dispatched_ns, firstToken_ns ?? NaN) + times.send,
    stored_events: ({ foundTokens, promptTokens }) => (foundTokens < promptTokens ? 1 : 0),
  }),
  ...on<Tracked>('ended', { routed_output_tokens: ({ generatedTokens }) => generatedTokens }),
  ...on<Tracked>('cancelled', { cancellations: () => 1 }),
  ...on<Tracked>('lost', { lost_requests: () => 1 }),
  ...on<CountedEnd>('counted_end', {
    counted_ends: () => 1,
    rejections: ({ error }) => (error === 'overload' ? 1 : null),
  }),
  ...on<ResponseEnd>('response_end', {
    request_duration: ({ duration_s }) => duration_s,
    response_tokens: ({ generatedTokens }) => generatedTokens,
    detokenize_time: ({ generatedTokens }) => generatedTokens * DETOKENIZE_SECONDS,
  }),
  ...on<KvTrafficEvent>('kv_traffic', { removed_blocks: ({ evicted }) => evicted }),
  ...at<Load>('load', {
    in_flight: ({ inFlight }) => inFlight,
    before_first_chunk: ({ beforeFirst }) => beforeFirst,
    preprocessing: ({ preprocessing }) => preprocessing,
    routing: () => 0,
    dispatching: ({ beforeFirst, preprocessing }) => beforeFirst - preprocessing,
    dispatched_in_flight: ({ inFlight, preprocessing }) => inFlight - preprocessing,
  }),
  ...at<WorkerLoad>('worker_load', {
    worker_blocks: ({ blocks }) => blocks,
    worker_prefill_tokens: ({ prefillTokens }) => prefillTokens,
  }),
};
