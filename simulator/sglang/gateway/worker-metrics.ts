import type { Choice } from './cache-aware-policy.ts';
import type { GatewayFamilies } from './families.ts';
import type { BreakerTransition, Worker } from './worker.ts';

const BREAKER_VALUES = { closed: 0, open: 1, half_open: 2 } as const;
const TRANSITIONS = [
  { from: 'closed', to: 'open' },
  { from: 'half_open', to: 'closed' },
  { from: 'half_open', to: 'open' },
  { from: 'open', to: 'closed' },
  { from: 'open', to: 'half_open' },
] as const;

/** What the gateway counts of its workers. */
export class WorkerMetrics {
  readonly #families: GatewayFamilies;
  readonly #workers: readonly Worker[];

  constructor(families: GatewayFamilies, workers: readonly Worker[], model: string) {
    this.#families = families;
    this.#workers = workers;
    const pool = { worker_type: 'regular', connection_mode: 'http', model };
    families.gauge('smg_worker_pool_size').series(pool).value = workers.length;
    for (const { url: worker } of workers) {
      families.counter('smg_worker_cb_health_readmissions_total').series({ worker });
      families.gauge('smg_worker_http2').series({ worker });
      for (const { from, to } of TRANSITIONS) this.#transitions(worker, { from, to });
    }
    this.update();
  }

  /** Sets the gauges to what the workers are. */
  update(): void {
    for (const worker of this.#workers) {
      const set = (name: string, value: number): void => {
        this.#families.gauge(`smg_worker_${name}`).series({ worker: worker.url }).value = value;
      };
      set('requests_active', worker.active);
      set('health', worker.isHealthy ? 1 : 0);
      set('cb_state', BREAKER_VALUES[worker.state]);
      set('cb_consecutive_failures', worker.consecutiveFailures);
      set('cb_consecutive_successes', worker.consecutiveSuccesses);
    }
  }

  chosen({ branch, matchRatio }: Choice, model: string): void {
    const labels = { worker_type: 'regular', connection_mode: 'http', model, policy: 'cache_aware' };
    this.#families.counter('smg_worker_selection_total').series(labels).add(1);
    this.#families.counter('smg_cache_aware_policy_branch_total').series({ branch }).add(1);
    this.#families.histogram('smg_cache_aware_match_ratio').series().observe(matchRatio);
  }

  dispatched({ url }: Worker, model: string): void {
    this.#families.counter('smg_worker_requests_total').series({ worker: url, model }).add(1);
  }

  outcome({ url }: Worker, outcome: 'success' | 'failure', transition: BreakerTransition | null): void {
    this.#families.counter('smg_worker_cb_outcomes_total').series({ worker: url, outcome }).add(1);
    this.turned(url, transition);
    if (outcome === 'success') return;
    const labels = { worker_type: 'regular', connection_mode: 'http', error_type: 'backend_error' };
    this.#families.counter('smg_worker_errors_total').series(labels).add(1);
  }

  turned(worker: string, transition: BreakerTransition | null): void {
    if (transition !== null) this.#transitions(worker, transition).add(1);
  }

  healthChecked(isGood: boolean): void {
    const labels = { worker_type: 'regular', result: isGood ? 'success' : 'failure' };
    this.#families.counter('smg_worker_health_checks_total').series(labels).add(1);
  }

  loadPolled({ url }: Worker): void {
    this.#families.counter('smg_engine_load_polls_total').series({ worker: url, mode: 'poll' }).add(1);
  }

  retried(endpoint: string, attempt: number, backoffSeconds: number): void {
    this.#families.counter('smg_worker_retries_total').series({ worker_type: 'regular', endpoint }).add(1);
    this.#families
      .histogram('smg_worker_retry_backoff_seconds')
      .series({ attempt: `${attempt}` })
      .observe(backoffSeconds);
  }

  exhausted(endpoint: string): void {
    this.#families.counter('smg_worker_retries_exhausted_total').series({ worker_type: 'regular', endpoint }).add(1);
  }

  #transitions(worker: string, { from, to }: BreakerTransition) {
    return this.#families.counter('smg_worker_cb_transitions_total').series({ worker, from, to });
  }
}
