import { DEFAULT_ENGINE_PARAMETERS } from '../../engine/parameters.ts';
import type { Labels } from '../../metrics/family.ts';
import { Feed } from '../../metrics/feed.ts';
import { MetricsPage } from '../../metrics/page.ts';
import { FORMATS } from '../../metrics/write-page.ts';
import type { BreakerTransition, Worker } from './worker.ts';

/** What a request asks the router for. */
export interface Routed {
  /** As smg names it: `chat` or `generate`. */
  readonly endpoint: string;
  /** `unknown` when the request names none, `other` when it is not served. */
  readonly model: string;
  readonly streaming: boolean;
}

interface Route extends Labels {
  readonly method: string;
  readonly path: string;
}

/** Labels of the router, of the workers, and of the pool that they are. */
export const ROUTER = { router_type: 'http', backend_type: 'regular', connection_mode: 'http' };
export const WORKER_TYPE = { worker_type: 'regular' };
export const POOL = { ...WORKER_TYPE, connection_mode: 'http' };

/** Families that are on the page before anything has happened, at 0 for each value of their labels. */
const FROM_START =
  /^smg_(worker_(overload|liveness|retries|retry)_|tokenizer_|detokenize_|history_memory|log_dropped|tokio_event_loop)/;

const BREAKER_VALUES = { closed: 0, open: 1, half_open: 2 } as const;
const TRANSITIONS: readonly BreakerTransition[] = [
  { from: 'closed', to: 'open' },
  { from: 'half_open', to: 'closed' },
  { from: 'half_open', to: 'open' },
  { from: 'open', to: 'closed' },
  { from: 'open', to: 'half_open' },
];

/** tokio's threads; here they are one. */
const THREADS = ['0', '1'];
const CANARY_MILLISECONDS = 10;
/** How often the canary sleeps: less than smg's, which never rests. */
const CANARY_INTERVAL_MILLISECONDS = 200;
const STALL_SECONDS = 0.005;

/** The page of smg 1.13.0: the requests it gets, its workers, and its own runtime, which is that of this process. */
export class GatewayMetrics {
  readonly #page = new MetricsPage({ catalogs: ['smg'], parts: ['gateway', 'errors'], format: FORMATS.RUST_EXPORTER });
  readonly #workers: readonly Worker[];
  readonly #timer: NodeJS.Timeout;
  /** When each request that is not responded to yet came in. */
  readonly #open = new Map<object, number>();
  #admitted = 0;
  #lastLoop = performance.eventLoopUtilization();

  constructor(workers: readonly Worker[], model: string) {
    this.#workers = workers;
    // Nothing here follows an engine: the feed makes the series of the start.
    new Feed(this.#page, {
      parameters: DEFAULT_ENGINE_PARAMETERS,
      values: { worker_type: ['regular', 'prefill', 'decode'], attempt: ['1'] },
      fromStart: ({ name }) => FROM_START.test(name),
    });
    this.#set('tokio_workers', THREADS.length);
    this.#set('worker_pool_size', workers.length, { ...POOL, model });
    for (const { url: worker } of workers) {
      this.#page.scalar('smg_worker_cb_health_readmissions_total', { worker });
      this.#set('worker_http2', 0, { worker });
      for (const transition of TRANSITIONS) this.count('worker_cb_transitions_total', { worker, ...transition }, 0);
    }
    this.#updateWorkers();
    this.#timer = setInterval(() => this.#sendCanary(), CANARY_INTERVAL_MILLISECONDS);
    this.#timer.unref();
  }

  /** A request came in. @param time_s of its arrival */
  arrived(request: object, route: Route, time_s: number): void {
    this.#open.set(request, time_s);
    this.count('http_requests_total', route);
  }

  /** A request to generate was let in. */
  admitted(): void {
    this.#admitted++;
    this.count('http_rate_limit_total', { result: 'allowed' });
    this.count('router_request_body_path_total', { path: 'buffered', reason: 'policy_needs_text' });
  }

  released(): void {
    this.#admitted--;
  }

  /** Its response went out in full, or its client has gone: then 499. */
  responded(request: object, path: string, status: number, errorCode: string): void {
    this.#open.delete(request);
    this.count('http_responses_total', { path, status_code: `${status}`, error_code: errorCode });
  }

  upstream(status: number, errorCode: string): void {
    const labels = { router_type: ROUTER.router_type, status_code: `${status}`, error_code: errorCode };
    this.count('router_upstream_responses_total', labels);
  }

  failed({ endpoint, model }: Routed, errorType: 'backend_error' | 'validation_error' | 'no_workers'): void {
    this.count('router_request_errors_total', { ...ROUTER, model, endpoint, error_type: errorType });
  }

  outcome({ url }: Worker, outcome: 'success' | 'failure', transition: BreakerTransition | null): void {
    this.count('worker_cb_outcomes_total', { worker: url, outcome });
    this.turned(url, transition);
    if (outcome === 'failure') this.count('worker_errors_total', { ...POOL, error_type: 'backend_error' });
  }

  turned(worker: string, transition: BreakerTransition | null): void {
    if (transition !== null) this.count('worker_cb_transitions_total', { worker, ...transition });
  }

  /** @param time_s the present, on the clock of the arrivals */
  page(time_s: number): string {
    this.#updateRequests(time_s);
    this.#updateWorkers();
    this.#updateRuntime();
    return this.#page.text();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #updateRequests(time_s: number): void {
    this.#set('http_connections_active', this.#open.size);
    this.#set('admission_inflight', this.#admitted);
    const { gt = [], le = [] } = this.#page.get('smg_http_inflight_request_age_count').facts.label_values ?? {};
    const ages = [...this.#open.values()].map((arrived_s) => time_s - arrived_s);
    for (const [i, lower] of gt.entries()) {
      const upper = le[i] ?? '+Inf';
      const max = upper === '+Inf' ? Infinity : Number(upper);
      // The youngest bracket takes in those that have just come.
      const isIn = (age: number): boolean => (age > Number(lower) || (i === 0 && age >= 0)) && age <= max;
      this.#set('http_inflight_request_age_count', ages.filter(isIn).length, { gt: lower, le: upper });
    }
  }

  #updateWorkers(): void {
    for (const worker of this.#workers) {
      const labels = { worker: worker.url };
      this.#set('worker_requests_active', worker.active, labels);
      this.#set('worker_health', worker.isHealthy ? 1 : 0, labels);
      this.#set('worker_cb_state', BREAKER_VALUES[worker.state], labels);
      this.#set('worker_cb_consecutive_failures', worker.consecutiveFailures, labels);
      this.#set('worker_cb_consecutive_successes', worker.consecutiveSuccesses, labels);
    }
  }

  #updateRuntime(): void {
    const memory = process.memoryUsage();
    this.#set('allocator_allocated_bytes', memory.heapUsed);
    this.#set('allocator_active_bytes', memory.heapTotal);
    this.#set('allocator_metadata_bytes', memory.external);
    this.#set('allocator_resident_bytes', memory.rss);
    this.#set('tokio_global_queue_depth', 0);
    this.#set('tokio_alive_tasks', process.getActiveResourcesInfo().length);
    const { utilization } = performance.eventLoopUtilization(this.#lastLoop);
    this.#lastLoop = performance.eventLoopUtilization();
    const ratio = Number.isFinite(utilization) ? utilization : 0;
    for (const worker of THREADS) this.#set('tokio_worker_busy_ratio', ratio, { worker });
  }

  #sendCanary(): void {
    const started = performance.now();
    setTimeout(() => {
      const delay_s = Math.max(0, (performance.now() - started - CANARY_MILLISECONDS) / 1000);
      this.observe('tokio_event_loop_delay_seconds', delay_s);
      if (delay_s > STALL_SECONDS) this.count('tokio_event_loop_stalls_total');
      for (const worker of THREADS) this.count('tokio_worker_parks_total', { worker });
    }, CANARY_MILLISECONDS).unref();
  }

  /** @param name without `smg_` */
  count(name: string, labels: Labels = {}, amount = 1): void {
    this.#page.scalar(`smg_${name}`, labels).add(amount);
  }

  /** @param name without `smg_` */
  observe(name: string, value: number, labels: Labels = {}): void {
    this.#page.histogram(`smg_${name}`, labels).observe(value);
  }

  #set(name: string, value: number, labels: Labels = {}): void {
    this.#page.scalar(`smg_${name}`, labels).value = value;
  }
}
