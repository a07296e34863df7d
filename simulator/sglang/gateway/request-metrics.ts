import type { Labels } from '../../metrics/family.ts';
import type { GatewayFamilies } from './families.ts';

/** What a request asks the router for. */
export interface Routed {
  /** As smg names it: `chat` or `generate`. */
  readonly endpoint: string;
  /** `unknown` when the request names none, `other` when it is not served. */
  readonly model: string;
  readonly streaming: boolean;
}

const ROUTER = { router_type: 'http', backend_type: 'regular', connection_mode: 'http' };

/** What the gateway counts of the requests it gets and of the responses it passes on. */
export class RequestMetrics {
  readonly #families: GatewayFamilies;
  readonly #inFlight = new Map<object, number>();
  #admitted = 0;

  constructor(families: GatewayFamilies) {
    this.#families = families;
  }

  /** A request came in. @param time_s of its arrival */
  arrived(request: object, labels: { readonly method: string; readonly path: string }, time_s: number): void {
    this.#inFlight.set(request, time_s);
    this.#families.counter('smg_http_requests_total').series(labels).add(1);
  }

  /** A request to generate was let in. */
  admitted(): void {
    this.#admitted++;
    this.#families.counter('smg_http_rate_limit_total').series({ result: 'allowed' }).add(1);
    const path = { path: 'buffered', reason: 'policy_needs_text' };
    this.#families.counter('smg_router_request_body_path_total').series(path).add(1);
  }

  released(): void {
    this.#admitted--;
  }

  /** The head of its response went out. */
  answering(labels: { readonly method: string; readonly path: string }, seconds: number): void {
    this.#families.histogram('smg_http_request_duration_seconds').series(labels).observe(seconds);
  }

  /** Its answer went out in full, or its client has gone: then 499. */
  answered(request: object, path: string, status: number, errorCode: string): void {
    this.#inFlight.delete(request);
    const labels = { path, status_code: `${status}`, error_code: errorCode };
    this.#families.counter('smg_http_responses_total').series(labels).add(1);
  }

  routed({ endpoint, model, streaming }: Routed): void {
    const labels = { ...ROUTER, model, endpoint, streaming: `${streaming}` };
    this.#families.counter('smg_router_requests_total').series(labels).add(1);
  }

  /** A good answer began: the clock of the router stops at its head, also for streams. */
  began({ endpoint, model }: Routed, seconds: number): void {
    const labels = { ...ROUTER, model, endpoint };
    this.#families.histogram('smg_router_request_duration_seconds').series(labels).observe(seconds);
  }

  upstream(status: number, errorCode: string): void {
    const labels = { router_type: ROUTER.router_type, status_code: `${status}`, error_code: errorCode };
    this.#families.counter('smg_router_upstream_responses_total').series(labels).add(1);
  }

  /** One and the same request was sent again, after the connection failed before any response. */
  resent(): void {
    const labels = { router_type: ROUTER.router_type };
    this.#families.counter('smg_router_upstream_send_retries_total').series(labels).add(1);
  }

  failed({ endpoint, model }: Routed, errorType: 'backend_error' | 'validation_error' | 'no_workers'): void {
    const labels: Labels = { ...ROUTER, model, endpoint, error_type: errorType };
    this.#families.counter('smg_router_request_errors_total').series(labels).add(1);
  }

  /** Sets the gauges. */
  update(time_s: number): void {
    this.#families.gauge('smg_http_connections_active').series().value = this.#inFlight.size;
    this.#families.gauge('smg_admission_inflight').series().value = this.#admitted;
    const name = 'smg_http_inflight_request_age_count';
    const uppers = this.#families.labelValues(name, 'le');
    const ages = [...this.#inFlight.values()].map((arrived_s) => time_s - arrived_s);
    for (const [i, gt] of this.#families.labelValues(name, 'gt').entries()) {
      const le = uppers[i] ?? '+Inf';
      const upper = le === '+Inf' ? Infinity : Number(le);
      // The youngest bracket takes in those that have just come.
      const isIn = (age: number): boolean => (age > Number(gt) || (i === 0 && age >= 0)) && age <= upper;
      this.#families.gauge(name).series({ gt, le }).value = ages.filter(isIn).length;
    }
  }
}
