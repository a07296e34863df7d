import type { GatewayFamilies } from './families.ts';

/** tokio's threads; here they are one. */
const WORKERS = 2;
const CANARY_MILLISECONDS = 10;
/** How often the canary sleeps: less than smg's, which never rests. */
const CANARY_INTERVAL_MILLISECONDS = 200;
const STALL_SECONDS = 0.005;

/** The metrics of smg's own runtime, from the event loop and the heap of this process. */
export class RuntimeMetrics {
  readonly #families: GatewayFamilies;
  readonly #timer: NodeJS.Timeout;
  #lastLoop = performance.eventLoopUtilization();

  constructor(families: GatewayFamilies) {
    this.#families = families;
    families.gauge('smg_tokio_workers').series().value = WORKERS;
    families.counter('smg_tokio_event_loop_stalls_total').series();
    families.histogram('smg_tokio_event_loop_delay_seconds').series();
    this.#timer = setInterval(() => this.#sendCanary(), CANARY_INTERVAL_MILLISECONDS);
    this.#timer.unref();
  }

  update(): void {
    const memory = process.memoryUsage();
    const set = (name: string, value: number, labels: Record<string, string> = {}): void => {
      this.#families.gauge(`smg_${name}`).series(labels).value = value;
    };
    set('allocator_allocated_bytes', memory.heapUsed);
    set('allocator_active_bytes', memory.heapTotal);
    set('allocator_metadata_bytes', memory.external);
    set('allocator_resident_bytes', memory.rss);
    set('tokio_global_queue_depth', 0);
    set('tokio_alive_tasks', process.getActiveResourcesInfo().length);
    const { utilization } = performance.eventLoopUtilization(this.#lastLoop);
    this.#lastLoop = performance.eventLoopUtilization();
    for (let worker = 0; worker < WORKERS; worker++) {
      set('tokio_worker_busy_ratio', Number.isFinite(utilization) ? utilization : 0, { worker: `${worker}` });
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sendCanary(): void {
    const started = performance.now();
    setTimeout(() => {
      const delay = Math.max(0, (performance.now() - started - CANARY_MILLISECONDS) / 1000);
      this.#families.histogram('smg_tokio_event_loop_delay_seconds').series().observe(delay);
      if (delay > STALL_SECONDS) this.#families.counter('smg_tokio_event_loop_stalls_total').series().add(1);
      for (let worker = 0; worker < WORKERS; worker++) {
        this.#families
          .counter('smg_tokio_worker_parks_total')
          .series({ worker: `${worker}` })
          .add(1);
      }
    }, CANARY_MILLISECONDS).unref();
  }
}
