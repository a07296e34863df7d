import type { AbortedEvent, EngineEvent, FinishedEvent, TokenEvent } from '../engine/events.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import type { PageFamilies } from '../metrics/page-families.ts';
import { endpointOf } from './endpoints.ts';
import type { RoutedRequest } from './routed-request.ts';

const SECONDS_PER_NANOSECOND = 1e-9;
const MILLISECONDS_PER_SECOND = 1000;
const DETOKENIZE_US = 12;
/** Kinds of attachments; no simulated request has any. */
const ATTACHMENTS = ['images', 'videos', 'audio'];

/** Why a request failed, as `error_type`. */
export type FrontendError = 'validation' | 'not_found' | 'overload' | 'cancelled' | 'internal';

interface Tracked extends RoutedRequest {
  firstToken_ns: number | null;
  generatedTokens: number;
}

/**
 * What Dynamo's frontend counts of requests. A family with a label has no series before the first request. Time to
 * first token and input length are observed at the first token, so failed requests may be missing there; a first token
 * is no inter-token observation.
 */
export class FrontendMetrics {
  readonly #families: PageFamilies;
  readonly #model: { readonly model: string };
  readonly #blockSize: number;
  readonly #requests = new Map<string, Tracked>();
  /** Workers that have ever had a request, with what is in flight at them. */
  readonly #workers = new Set<string>();

  constructor(families: PageFamilies, model: string, parameters: EngineParameters) {
    this.#families = families;
    this.#model = { model };
    this.#blockSize = parameters.blockSize;
    const set = (name: string, value: number): void => {
      families.gauge(`dynamo_frontend_model_${name}`).series(this.#model).value = value;
    };
    set('context_length', parameters.maxModelLen);
    set('kv_cache_block_size', parameters.blockSize);
    set('max_num_batched_tokens', parameters.maxNumBatchedTokens);
    set('max_num_seqs', parameters.maxNumSeqs);
    set('total_kv_blocks', parameters.numKvBlocks);
    set('migration_limit', 0);
    this.#makeUnlabeled();
  }

  /** A request was accepted and given to a worker. */
  routed(request: RoutedRequest): void {
    this.#requests.set(request.id, { ...request, firstToken_ns: null, generatedTokens: 0 });
    this.#workers.add(request.worker.decimal);
    const endpoint = endpointOf(request.route);
    this.#counter('requests_started_total', { endpoint, request_type: typeOf(request) }).add(1);
    this.#counter('output_tokens_total');
    for (const kind of ATTACHMENTS) this.#histogram(`${kind}_per_request`).observe(0);
    this.#histogram('image_tokens_per_request');
    this.#observeDispatch(request);
  }

  /** Takes up what the workers' engines did. */
  observe(events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.kind === 'token') this.#token(event);
      else if (event.kind === 'finished') this.#finished(event);
      else if (event.kind === 'aborted') this.#cancelled(event);
    }
  }

  /** A request was refused before it reached a worker. */
  refused(error: FrontendError, route: string): void {
    this.#countEnd('unary', route, error);
    if (error === 'overload') this.#counter('model_rejection_total', { endpoint: endpointOf(route) }).add(1);
  }

  /** The worker of a request is gone. It would be moved to another one, if the limit were not 0. */
  lost(id: string, now_ns: number): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#counter('model_migration_total', { migration_type: 'ongoing_request' }).add(1);
    this.#end(request, now_ns, 'internal');
  }

  /** Sets the gauges. @param now_ns on the clock of the requests */
  update(now_ns: number): void {
    if (this.#workers.size === 0) return;
    const all = [...this.#requests.values()];
    const beforeFirst = all.filter((request) => request.firstToken_ns === null);
    const preprocessing = beforeFirst.filter((request) => request.dispatched_ns > now_ns).length;
    const set = (name: string, value: number): void => {
      this.#families.gauge(`dynamo_frontend_${name}`).series(this.#model).value = value;
    };
    set('active_requests', all.length);
    set('inflight_requests', all.length);
    set('queued_requests', beforeFirst.length);
    this.#setStage('preprocess', '', preprocessing);
    this.#setStage('route', 'aggregated', 0);
    this.#setStage('dispatch', 'aggregated', beforeFirst.length - preprocessing);
    this.#families.gauge('dynamo_request_plane_inflight_requests').series().value = all.length - preprocessing;
    for (const worker of this.#workers) this.#updateWorker(worker, all);
  }

  #makeUnlabeled(): void {
    const counters = ['detokenize_token_count', 'detokenize_total_us', 'tokenizer_cache_hits_total'];
    for (const name of [...counters, 'tokenizer_cache_misses_total']) {
      this.#families.counter(`dynamo_frontend_${name}`).series();
    }
    for (const name of ['cached', 'uncached']) this.#counter(`tokenizer_cache_${name}_tokens_total`);
    this.#families.gauge('dynamo_frontend_disconnected_clients').series();
    for (const name of ['tokenize', 'template']) this.#families.histogram(`dynamo_frontend_${name}_seconds`).series();
    for (const name of ['queue', 'send', 'roundtrip_ttft']) {
      this.#families.histogram(`dynamo_request_plane_${name}_seconds`).series();
    }
    this.#families.gauge('dynamo_request_plane_inflight_requests').series();
    for (const name of ['bytes_sent', 'bytes_received', 'errors']) {
      this.#families.counter(`dynamo_transport_tcp_${name}_total`).series();
    }
    this.#families.counter('dynamo_transport_nats_errors_total').series({ error_type: 'request_failed' });
    this.#counter('model_migration_max_seq_len_exceeded_total');
    for (const reason of ['cached_token_limit', 'raw_isl_token_limit', 'request_limit']) {
      this.#counter('router_queue_backpressure_total', { ...ROUTER_QUEUE, reason });
    }
    for (const name of ['requests', 'isl_tokens', 'cached_tokens']) {
      const family = this.#families.gauge(`dynamo_frontend_router_queue_pending_${name}`);
      family.series({ ...this.#model, ...ROUTER_QUEUE });
    }
  }

  /** The first look at a worker is a round trip as well. */
  queriedWorker(): void {
    this.#observeRoundTrip(WORKER_QUERY_SECONDS);
    this.#families.histogram('dynamo_request_plane_queue_seconds').series().observe(20e-6);
    this.#families.histogram('dynamo_request_plane_send_seconds').series().observe(200e-6);
  }

  #observeDispatch({ times, promptTokens }: RoutedRequest): void {
    const { template, tokenize, queue, send } = times;
    this.#families.histogram('dynamo_frontend_template_seconds').series().observe(template);
    this.#families.histogram('dynamo_frontend_tokenize_seconds').series().observe(tokenize);
    const latency = this.#families.histogram('dynamo_frontend_tokenizer_latency_ms');
    latency.series({ operation: 'tokenize' }).observe(tokenize * MILLISECONDS_PER_SECOND);
    this.#stage('preprocess', template + tokenize);
    this.#stage('route', times.blockHashing + times.sequenceHashing + times.findMatches + times.schedule);
    this.#families.histogram('dynamo_request_plane_queue_seconds').series().observe(queue);
    this.#families.histogram('dynamo_request_plane_send_seconds').series().observe(send);
    this.#families.counter('dynamo_transport_tcp_bytes_sent_total').series().add(requestBytes(promptTokens));
    // The template's first token is the same in every prompt, and the first prompt brings it in.
    const hits = this.#families.counter('dynamo_frontend_tokenizer_cache_hits_total').series();
    const misses = this.#families.counter('dynamo_frontend_tokenizer_cache_misses_total').series();
    const cached = misses.value > 0 ? 1 : 0;
    (cached === 1 ? hits : misses).add(1);
    this.#counter('tokenizer_cache_cached_tokens_total').add(cached);
    this.#counter('tokenizer_cache_uncached_tokens_total').add(promptTokens - cached);
  }

  #token({ request: { id, cachedTokens }, time_ns, previous_ns }: TokenEvent): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    request.generatedTokens++;
    this.#counter('output_tokens_total').add(1);
    this.#families.counter('dynamo_frontend_detokenize_token_count').series().add(1);
    this.#families.counter('dynamo_frontend_detokenize_total_us').series().add(DETOKENIZE_US);
    if (previous_ns === null) this.#firstToken(request, time_ns, cachedTokens);
    else {
      const gap_s = (time_ns - previous_ns) * SECONDS_PER_NANOSECOND;
      this.#histogram('inter_token_latency_seconds').observe(gap_s);
      this.#lastOfWorker('inter_token_latency_seconds', request, gap_s);
    }
  }

  #firstToken(request: Tracked, time_ns: number, cachedTokens: number): void {
    request.firstToken_ns = time_ns;
    const seconds = (time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND;
    this.#histogram('time_to_first_token_seconds').observe(seconds);
    this.#histogram('inter_token_latency_seconds');
    this.#histogram('input_sequence_tokens').observe(request.promptTokens);
    this.#histogram('cached_tokens').observe(cachedTokens);
    this.#observeRoundTrip((time_ns - request.dispatched_ns) * SECONDS_PER_NANOSECOND + request.times.send);
    this.#lastOfWorker('time_to_first_token_seconds', request, seconds);
    this.#lastOfWorker('input_sequence_tokens', request, request.promptTokens);
  }

  #observeRoundTrip(seconds: number): void {
    this.#stage('transport_roundtrip', seconds);
    this.#families.histogram('dynamo_request_plane_roundtrip_ttft_seconds').series().observe(seconds);
  }

  #finished({ request: { id }, time_ns }: FinishedEvent): void {
    const request = this.#requests.get(id);
    if (request !== undefined) this.#end(request, time_ns, null);
  }

  #cancelled({ request: { id }, time_ns }: AbortedEvent): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#families.gauge('dynamo_frontend_disconnected_clients').series().add(1);
    const endpoint = endpointOf(request.route);
    this.#counter('model_cancellation_total', { endpoint, request_type: typeOf(request) }).add(1);
    this.#end(request, time_ns, 'cancelled');
  }

  #end(request: Tracked, time_ns: number, error: FrontendError | null): void {
    this.#requests.delete(request.id);
    this.#countEnd(typeOf(request), request.route, error);
    const seconds = (time_ns - request.arrival_ns) * SECONDS_PER_NANOSECOND;
    this.#histogram('request_duration_seconds').observe(Math.max(0, seconds));
    this.#histogram('output_sequence_tokens').observe(request.generatedTokens);
    const detokenize = this.#families.histogram('dynamo_frontend_tokenizer_latency_ms');
    detokenize.series({ operation: 'detokenize' }).observe((request.generatedTokens * DETOKENIZE_US) / 1000);
    this.#stage('postprocess', request.generatedTokens * DETOKENIZE_US * 1e-6);
  }

  #countEnd(requestType: string, route: string, error: FrontendError | null): void {
    const status = error === null ? 'success' : 'error';
    const labels = { endpoint: endpointOf(route), request_type: requestType, status, error_type: error ?? '' };
    this.#counter('requests_total', labels).add(1);
  }

  #updateWorker(worker: string, all: readonly Tracked[]): void {
    const own = all.filter((request) => request.worker.decimal === worker);
    const blocks = own.reduce(
      (sum, { promptTokens, generatedTokens }) => sum + Math.ceil((promptTokens + generatedTokens) / this.#blockSize),
      0,
    );
    const waiting = own.filter((request) => request.firstToken_ns === null);
    const prefill = waiting.reduce((sum, { prefillTokens }) => sum + prefillTokens, 0);
    const labels = { worker_id: worker, dp_rank: '0', worker_type: 'decode' };
    this.#families.gauge('dynamo_frontend_worker_active_decode_blocks').series(labels).value = blocks;
    this.#families.gauge('dynamo_frontend_worker_active_prefill_tokens').series(labels).value = prefill;
  }

  #lastOfWorker(name: string, { worker }: Tracked, value: number): void {
    const labels = { worker_id: worker.decimal, dp_rank: '0', worker_type: 'decode' };
    this.#families.gauge(`dynamo_frontend_worker_last_${name}`).series(labels).value = value;
  }

  #setStage(stage: string, phase: string, requests: number): void {
    this.#families.gauge('dynamo_frontend_stage_requests').series({ stage, phase }).value = requests;
  }

  #stage(stage: string, seconds: number): void {
    this.#families.histogram('dynamo_frontend_stage_duration_seconds').series({ stage }).observe(seconds);
  }

  #counter(name: string, labels: object = {}) {
    return this.#families.counter(`dynamo_frontend_${name}`).series({ ...this.#model, ...labels });
  }

  #histogram(name: string) {
    return this.#families.histogram(`dynamo_frontend_${name}`).series(this.#model);
  }
}

const ROUTER_QUEUE = { policy_class: 'default', worker_type: 'decode' };
const WORKER_QUERY_SECONDS = 0.007;

function typeOf({ streaming }: RoutedRequest): string {
  return streaming ? 'stream' : 'unary';
}

/** What a request is on the wire between frontend and worker: token ids and the options around them. */
export function requestBytes(promptTokens: number): number {
  return 600 + Math.round(3.5 * promptTokens);
}
