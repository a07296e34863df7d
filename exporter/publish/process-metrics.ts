import { Registry, collectDefaultMetrics } from 'prom-client';
import { metadataLines, sampleLines, type PageFormat } from '../../core/exposition/index.ts';
import { readFamilies } from './family.ts';

/**
 * The families that prom-client exposes by default and that several scrapers can read without an effect on each other. The
 * others are left out: the event loop's lag is reset by each scrape, and gauges whose names end in `_total` are taken for
 * counters.
 */
const FAMILIES: ReadonlySet<string> = new Set([
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
]);

/** The lag is not exposed: its monitor, which cannot be switched off, may be coarse. */
const LAG_PRECISION_MS = 1000;

/** CPU, memory and files of this process, by the names of Prometheus' client libraries. */
export class ProcessMetrics {
  readonly #registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  }

  /** The lines of the families, without the end of a page. */
  async lines(format: PageFormat): Promise<string> {
    const families = (await readFamilies(this.#registry)).filter(({ name }) => FAMILIES.has(name));
    return families.map((family) => metadataLines(family, format) + sampleLines(family)).join('');
  }
}
