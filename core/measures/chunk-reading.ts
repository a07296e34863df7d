import type { RequestRecord } from '../run/record.ts';
import type { FullLoad } from './full-load.ts';
import { standingOf } from './request-columns.ts';

const SECONDS_PER_NS = 1e-9;

/**
 * What needs every chunk of a run: its exact gaps and the tokens that came at full load. Filled by reading the records
 * a second time, from their file, because nothing per chunk stays in memory while the run lasts.
 */
export class ChunkReading {
  readonly #gaps: Float64Array | null;
  readonly #fullLoad: FullLoad | null;
  readonly #starts: { sent_ns: number; from: number; to: number }[] = [];
  #seen = 0;
  #okRequests = 0;
  #tokensAtFullLoad: number | null = 0;

  /** `expectedGaps` are the gaps of the ok requests of the measure phase; null leaves the gaps out. */
  constructor(expectedGaps: number | null, fullLoad: FullLoad | null) {
    this.#gaps = expectedGaps === null ? null : new Float64Array(expectedGaps);
    this.#fullLoad = fullLoad;
  }

  /** Once per record of the run, warm-up included, in any order. */
  add(record: RequestRecord): void {
    if (record.phase !== 'measure' || standingOf(record) !== 'ok') return;
    this.#okRequests += 1;
    this.#addGaps(record);
    this.#addTokens(record);
  }

  /** How many ok requests of the measure phase were read. */
  get okRequests(): number {
    return this.#okRequests;
  }

  /** Whether all gaps that were expected were there to be read. */
  get complete(): boolean {
    return this.#gaps !== null && this.#seen === this.#gaps.length;
  }

  /** Seconds, request by request in the order of sending; null when they are not complete. */
  gapsInStartOrder(): Float64Array | null {
    const gaps = this.#gaps;
    if (gaps === null || !this.complete) return null;
    const ordered = new Float64Array(gaps.length);
    let at = 0;
    for (const { from, to } of this.#starts.sort((a, b) => a.sent_ns - b.sent_ns)) {
      ordered.set(gaps.subarray(from, to), at);
      at += to - from;
    }
    return ordered;
  }

  /** How many gaps are longer than so many seconds; null when they are not complete. */
  gapsLongerThan(seconds: number): number | null {
    const gaps = this.#gaps;
    if (gaps === null || !this.complete) return null;
    let longer = 0;
    for (const gap of gaps) if (gap > seconds) longer += 1;
    return longer;
  }

  /** Output tokens of ok requests, spread evenly over their chunks; null when a request's tokens are not known. */
  get tokensAtFullLoad(): number | null {
    return this.#tokensAtFullLoad;
  }

  #addGaps({ sent_ns, chunk_offsets_ns: offsets }: RequestRecord): void {
    if (this.#gaps === null || offsets.length < 2) return;
    const from = this.#seen;
    for (let i = 1; i < offsets.length; i++) {
      if (this.#seen < this.#gaps.length) {
        this.#gaps[this.#seen] = ((offsets[i] ?? NaN) - (offsets[i - 1] ?? NaN)) * SECONDS_PER_NS;
      }
      this.#seen += 1;
    }
    this.#starts.push({ sent_ns, from, to: this.#seen });
  }

  #addTokens({ sent_ns, output_tokens: tokens, chunk_offsets_ns: offsets }: RequestRecord): void {
    if (this.#fullLoad === null || this.#tokensAtFullLoad === null) return;
    if (tokens === null) {
      this.#tokensAtFullLoad = null;
      return;
    }
    let chunks = 0;
    for (const offset of offsets) if (this.#fullLoad.holds(sent_ns + offset)) chunks += 1;
    if (offsets.length > 0) this.#tokensAtFullLoad += (tokens * chunks) / offsets.length;
  }
}
