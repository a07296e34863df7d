import type { Random } from '../../core/stats/seeded-random.ts';
import type { PageFamilies } from '../metrics/page-families.ts';

const SECONDS_PER_NANOSECOND = 1e-9;
const RUNTIME_WORKERS = 2;
/** Time of a thread for one chunk that passes through. */
const SECONDS_PER_CHUNK = 25e-6;
const IDLE_POLL_NS = 15_000;
const CANARY_SECONDS = 0.01;
const STALL_SECONDS = 0.005;
const SATURATED_PERMILLE = 1000;
/** An idle frontend is not looked at for days: what is made up for the past is limited. */
const MAX_CANARIES = 100_000;

const GAUGES = ['global_queue_depth', 'blocking_threads', 'blocking_idle_threads', 'blocking_queue_depth'];

/** The Tokio runtime of the frontend, and the canary that sleeps in its event loop. Made up, but from the real load. */
export class RuntimeMetrics {
  readonly #families: PageFamilies;
  readonly #random: Random;
  #updated_s = 0;
  #chunks = 0;
  #chunksAtUpdate = 0;

  constructor(families: PageFamilies, random: Random) {
    this.#families = families;
    this.#random = random;
    for (const name of GAUGES) families.gauge(`dynamo_tokio_${name}`).series();
    families.counter('dynamo_tokio_budget_forced_yield_total').series();
    for (let worker = 0; worker < RUNTIME_WORKERS; worker++) {
      const labels = { worker: `${worker}` };
      families.gauge('dynamo_tokio_worker_local_queue_depth').series(labels);
      for (const name of ['overflow', 'park', 'steal']) {
        families.counter(`dynamo_tokio_worker_${name}_count_total`).series(labels);
      }
    }
    families.counter('dynamo_frontend_event_loop_stall_total').series();
    families.histogram('dynamo_frontend_event_loop_delay_seconds').series();
  }

  /** A chunk passed through. */
  chunk(): void {
    this.#chunks++;
  }

  /** @param now_ns since the start @param inFlight requests that have tasks */
  update(now_ns: number, inFlight: number): void {
    const now_s = now_ns * SECONDS_PER_NANOSECOND;
    const passed_s = now_s - this.#updated_s;
    if (passed_s <= 0) return;
    const chunks = this.#chunks - this.#chunksAtUpdate;
    this.#updated_s = now_s;
    this.#chunksAtUpdate = this.#chunks;
    const busyRatio = Math.min(1, (chunks * SECONDS_PER_CHUNK) / passed_s / RUNTIME_WORKERS);
    this.#families.gauge('dynamo_tokio_alive_tasks').series().value = 40 + 4 * inFlight;
    for (let worker = 0; worker < RUNTIME_WORKERS; worker++) {
      const labels = { worker: `${worker}` };
      const ratio = this.#families.gauge('dynamo_tokio_worker_busy_ratio').series(labels);
      ratio.value = Math.round(busyRatio * SATURATED_PERMILLE);
      const poll = this.#families.gauge('dynamo_tokio_worker_mean_poll_time_ns').series(labels);
      poll.value = Math.round(IDLE_POLL_NS * (1 + 4 * busyRatio));
      const parks = Math.floor(passed_s / CANARY_SECONDS + chunks / RUNTIME_WORKERS);
      this.#families.counter('dynamo_tokio_worker_park_count_total').series(labels).add(parks);
      this.#families
        .counter('dynamo_tokio_worker_steal_count_total')
        .series(labels)
        .add(Math.floor(chunks / 20));
    }
    this.#canaries(passed_s, busyRatio);
  }

  /** How late the sleeps since the last update were: later when there is more to do. */
  #canaries(passed_s: number, busyRatio: number): void {
    const delays = this.#families.histogram('dynamo_frontend_event_loop_delay_seconds').series();
    const stalls = this.#families.counter('dynamo_frontend_event_loop_stall_total').series();
    const sleeps = Math.min(MAX_CANARIES, Math.floor(passed_s / CANARY_SECONDS));
    for (let i = 0; i < sleeps; i++) {
      const delay_s = 0.0008 * this.#random() + 0.012 * busyRatio * this.#random() ** 4;
      delays.observe(delay_s);
      if (delay_s > STALL_SECONDS) stalls.add(1);
    }
  }
}
