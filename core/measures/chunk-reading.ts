import type { RequestRecord } from '../run/record.ts';
import type { FullLoad } from './full-load.ts';
import { ManyGaps } from './many-gaps.ts';
import { standingOf } from './request-columns.ts';

/** Up to this many gaps their order in time is kept, which intervals need. */
const ORDERED_UP_TO = 1_000_000;

/** What of a record is read a second time. */
export const CHUNK_FIELDS = [
  'phase',
  'stage',
  'outcome',
  'sent_ns',
  'output_tokens',
  'chunk_offsets_ns',
] as const satisfies readonly (keyof RequestRecord)[];
export type ChunkRecord = Pick<RequestRecord, (typeof CHUNK_FIELDS)[number]>;

/**
 * What needs every chunk of a run: its exact gaps and the tokens that came at full load. Filled by reading the records
 * a second time, from their file, because nothing per chunk stays in memory while the run lasts.
 */
export class ChunkReading {
  readonly #gaps: GapsInOrder | ManyGaps | null;
  readonly #fullLoad: FullLoad | null;
  #okRequests = 0;
  #chunks = 0;
  #tokensAtFullLoad: number | null = 0;

  /** `expectedGaps` are the gaps of the ok requests of the measure phase; null leaves the gaps out. */
  constructor(expectedGaps: number | null, fullLoad: FullLoad | null) {
    if (expectedGaps === null) this.#gaps = null;
    else this.#gaps = expectedGaps <= ORDERED_UP_TO ? new GapsInOrder(expectedGaps) : new ManyGaps(expectedGaps);
    this.#fullLoad = fullLoad;
  }

  /** Once per record of the run, warm-up included, in any order. */
  add(record: ChunkRecord): void {
    if (record.phase !== 'measure' || standingOf(record) !== 'ok') return;
    this.#okRequests += 1;
    this.#chunks += record.chunk_offsets_ns.length;
    if (record.chunk_offsets_ns.length > 1) this.#gaps?.add(record.sent_ns, record.chunk_offsets_ns);
    this.#addTokens(record);
  }

  /** How many ok requests of the measure phase were read. */
  get okRequests(): number {
    return this.#okRequests;
  }

  /** Whether all gaps that were expected were there to be read. */
  get complete(): boolean {
    return this.#gaps?.complete === true;
  }

  /** Seconds, request by request in the order of sending; null when they are not complete, or more than a million. */
  gapsInStartOrder(): Float64Array | null {
    return this.complete && this.#gaps instanceof GapsInOrder ? this.#gaps.inStartOrder() : null;
  }

  /** Exact percentiles of more than a million gaps, in seconds; null when they are fewer, or not complete. */
  gapPercentiles(quantiles: readonly number[]): number[] | null {
    return this.complete && this.#gaps instanceof ManyGaps ? this.#gaps.percentiles(quantiles) : null;
  }

  /** How many gaps are longer than so many seconds; null when they are not complete. */
  gapsLongerThan(seconds: number): number | null {
    return this.complete ? (this.#gaps?.longerThan(seconds) ?? null) : null;
  }

  /**
   * Output tokens of ok requests, spread evenly over their chunks; null when a request's tokens are not known, or when there
   * is no chunk at all: of responses that come whole it is unknown when their tokens were generated.
   */
  get tokensAtFullLoad(): number | null {
    return this.#chunks === 0 ? null : this.#tokensAtFullLoad;
  }

  #addTokens({ sent_ns, output_tokens: tokens, chunk_offsets_ns: offsets }: ChunkRecord): void {
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

const SECONDS_PER_NS = 1e-9;

/** The gaps of a run with their order in time: 8 bytes each, and some for each request. Filled request by request. */
export class GapsInOrder {
  readonly #gaps: Float64Array;
  /** Sending time of each request, and where its gaps begin. */
  readonly #sent_ns: number[] = [];
  readonly #starts: number[] = [];
  #seen = 0;

  /** `expected` is how many gaps there are to come. */
  constructor(expected: number) {
    this.#gaps = new Float64Array(expected);
  }

  /** Whether all that were expected have come, and no more. */
  get complete(): boolean {
    return this.#seen === this.#gaps.length;
  }

  /** The gaps between the arrivals of one request's chunks. */
  add(sent_ns: number, offsets_ns: readonly number[]): void {
    this.#sent_ns.push(sent_ns);
    this.#starts.push(this.#seen);
    for (let i = 1; i < offsets_ns.length; i++) {
      const gap_ns = (offsets_ns[i] ?? NaN) - (offsets_ns[i - 1] ?? NaN);
      if (this.#seen < this.#gaps.length) this.#gaps[this.#seen] = gap_ns * SECONDS_PER_NS;
      this.#seen += 1;
    }
  }

  /** Seconds, request by request in the order of sending. */
  inStartOrder(): Float64Array {
    const order = this.#sent_ns.map((_, i) => i).sort((a, b) => (this.#sent_ns[a] ?? NaN) - (this.#sent_ns[b] ?? NaN));
    const ordered = new Float64Array(this.#gaps.length);
    let at = 0;
    for (const request of order) {
      const gaps = this.#gaps.subarray(this.#starts[request], this.#starts[request + 1] ?? this.#seen);
      ordered.set(gaps, at);
      at += gaps.length;
    }
    return ordered;
  }

  longerThan(seconds: number): number {
    let longer = 0;
    for (const gap of this.#gaps) if (gap > seconds) longer += 1;
    return longer;
  }
}
