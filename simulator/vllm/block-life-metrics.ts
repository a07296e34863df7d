import type { EngineEvent } from '../engine/events.ts';
import type { Labels } from '../metrics/family.ts';
import type { Histogram } from '../metrics/series.ts';
import type { VllmFamilies } from './families.ts';

const SECONDS_PER_NANOSECOND = 1e-9;

/** What `--kv-cache-metrics` reports of blocks whose content is given up, with `--kv-cache-metrics-sample 1`: of all. */
export class VllmBlockLifeMetrics {
  readonly #lifetime: Histogram;
  readonly #idle: Histogram;
  readonly #reuseGap: Histogram;

  constructor(families: VllmFamilies, labels: Labels) {
    const histogram = (name: string): Histogram => families.histogram(`vllm:kv_block_${name}_seconds`).series(labels);
    this.#lifetime = histogram('lifetime');
    this.#idle = histogram('idle_before_evict');
    this.#reuseGap = histogram('reuse_gap');
  }

  observe(event: EngineEvent): void {
    if (event.kind !== 'kv-traffic') return;
    for (const { lifetime_ns, idle_ns, reuseGaps_ns } of event.lives) {
      this.#lifetime.observe(lifetime_ns * SECONDS_PER_NANOSECOND);
      this.#idle.observe(idle_ns * SECONDS_PER_NANOSECOND);
      for (const gap_ns of reuseGaps_ns) this.#reuseGap.observe(gap_ns * SECONDS_PER_NANOSECOND);
    }
  }
}
