import type { MetricsPage } from '../metrics/page.ts';

const CAPACITY_BYTES = 64 * 2 ** 20;
/** What an entry takes besides key and answer. */
const ENTRY_OVERHEAD_BYTES = 256;
const LOOKUP_US = 40;
const INSERTION_US = 60;

/** Triton's local response cache, with the gauges that it keeps of itself; the oldest entry goes first. */
export class ResponseCache {
  readonly #responses = new Map<string, string>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;
  #insertions = 0;

  /** The response to the same request before, or undefined. */
  lookUp(request: string): string | undefined {
    const response = this.#responses.get(request);
    if (response === undefined) this.#misses++;
    else this.#hits++;
    return response;
  }

  insert(request: string, response: string): void {
    if (this.#responses.has(request)) return;
    this.#responses.set(request, response);
    this.#bytes += sizeOf(request, response);
    this.#insertions++;
    for (const [oldest, dropped] of this.#responses) {
      if (this.#bytes <= CAPACITY_BYTES) break;
      this.#responses.delete(oldest);
      this.#bytes -= sizeOf(oldest, dropped);
      this.#evictions++;
    }
  }

  update(page: MetricsPage): void {
    const lookups = this.#hits + this.#misses;
    const values = {
      nv_cache_util: this.#bytes / CAPACITY_BYTES,
      nv_cache_num_entries: this.#responses.size,
      nv_cache_num_hits: this.#hits,
      nv_cache_num_misses: this.#misses,
      nv_cache_num_lookups: lookups,
      nv_cache_num_evictions: this.#evictions,
      nv_cache_lookup_duration: lookups * LOOKUP_US,
      nv_cache_insertion_duration: this.#insertions * INSERTION_US,
    };
    for (const [name, value] of Object.entries(values)) page.scalar(name).value = value;
  }
}

function sizeOf(request: string, response: string): number {
  return request.length + response.length + ENTRY_OVERHEAD_BYTES;
}
