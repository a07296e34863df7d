import type { PageFamilies } from '../metrics/page-families.ts';

const CAPACITY_BYTES = 64 * 2 ** 20;
/** What an entry takes besides key and answer. */
const ENTRY_OVERHEAD_BYTES = 256;
const LOOKUP_US = 40;
const INSERTION_US = 60;

/** Triton's local response cache, with the gauges that it keeps of itself; the oldest entry goes first. */
export class ResponseCache {
  readonly #answers = new Map<string, string>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;
  #insertions = 0;

  /** The answer to the same request before, or undefined. */
  lookUp(request: string): string | undefined {
    const answer = this.#answers.get(request);
    if (answer === undefined) this.#misses++;
    else this.#hits++;
    return answer;
  }

  insert(request: string, answer: string): void {
    if (this.#answers.has(request)) return;
    this.#answers.set(request, answer);
    this.#bytes += sizeOf(request, answer);
    this.#insertions++;
    for (const [oldest, dropped] of this.#answers) {
      if (this.#bytes <= CAPACITY_BYTES) break;
      this.#answers.delete(oldest);
      this.#bytes -= sizeOf(oldest, dropped);
      this.#evictions++;
    }
  }

  update(families: PageFamilies): void {
    const lookups = this.#hits + this.#misses;
    const values = {
      nv_cache_util: this.#bytes / CAPACITY_BYTES,
      nv_cache_num_entries: this.#answers.size,
      nv_cache_num_hits: this.#hits,
      nv_cache_num_misses: this.#misses,
      nv_cache_num_lookups: lookups,
      nv_cache_num_evictions: this.#evictions,
      nv_cache_lookup_duration: lookups * LOOKUP_US,
      nv_cache_insertion_duration: this.#insertions * INSERTION_US,
    };
    for (const [name, value] of Object.entries(values)) families.gauge(name).series().value = value;
  }
}

function sizeOf(request: string, answer: string): number {
  return request.length + answer.length + ENTRY_OVERHEAD_BYTES;
}
