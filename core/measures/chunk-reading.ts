import type { RequestRecord } from '../run/record.ts';
import { interpolate, selectRanks } from '../stats/percentiles.ts';
import type { FullLoad } from './in-flight.ts';
import { standingOf } from './request-columns.ts';
import type { ClassicHistogram } from '../histogram/classic-histogram.ts';

const SECONDS_PER_NS = 1e-9;
/** Stands for every gap that does not fit into 32 bits: 4.3 s and more. */
const LONG = 2 ** 32 - 1;

/** The gaps of a run without their order, 4 bytes each and none of them rounded. */
export class ManyGaps {
  readonly #gaps_ns: Uint32Array;
  readonly #long_ns: number[] = [];
  #seen = 0;

  /** `expected` is how many gaps there are to come. */
  constructor(expected: number) {
    this.#gaps_ns = new Uint32Array(expected);
  }

  /** Whether all that were expected have come, and no more. */
  get complete(): boolean {
    return this.#seen === this.#gaps_ns.length;
  }

  /** The gaps between the arrivals of one request's chunks. */
  add(_sent_ns: number, offsets_ns: readonly number[]): void {
    for (let i = 1; i < offsets_ns.length; i++) {
      const gap_ns = (offsets_ns[i] ?? NaN) - (offsets_ns[i - 1] ?? NaN);
      if (gap_ns >= LONG) this.#long_ns.push(gap_ns);
      if (this.#seen < this.#gaps_ns.length) this.#gaps_ns[this.#seen] = Math.min(gap_ns, LONG);
      this.#seen += 1;
    }
  }

  /** Exact percentiles in seconds, linear between order statistics; NaN without gaps. */
  percentiles(quantiles: readonly number[]): number[] {
    const last = this.#gaps_ns.length - 1;
    const belows = quantiles.map((q) => Math.floor(last * q));
    const ranks = new Set(belows.flatMap((below) => [below, Math.min(below + 1, last)]));
    selectRanks(
      this.#gaps_ns,
      [...ranks].sort((a, b) => a - b),
    );
    this.#long_ns.sort((a, b) => a - b);
    return quantiles.map((q, i) => {
      const below = belows[i] ?? NaN;
      const [low, high] = [this.#ranked_ns(below), this.#ranked_ns(Math.min(below + 1, last))];
      return interpolate(low, high, last * q - below) * SECONDS_PER_NS;
    });
  }

  longerThan(seconds: number): number {
    const limit_ns = seconds / SECONDS_PER_NS;
    let longer = 0;
    for (const gap_ns of this.#gaps_ns) if (gap_ns > limit_ns && gap_ns < LONG) longer += 1;
    for (const gap_ns of this.#long_ns) if (gap_ns > limit_ns) longer += 1;
    return longer;
  }

  /** The gap of a rank that was selected. The long ones are the last. */
  #ranked_ns(rank: number): number {
    const short = this.#gaps_ns.length - this.#long_ns.length;
    return (rank < short ? this.#gaps_ns[rank] : this.#long_ns[rank - short]) ?? NaN;
  }
}

/** Up to this many gaps their order in time is kept, which intervals need. */
const ORDERED_UP_TO = 1_000_000;

/** What of a record is read a second time. */
export const CHUNK_FIELDS = [
  'phase',
  'stage',
  'turn',
  'model',
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

/** Buckets per octave: neighboring edges are less than 0.8 % apart. */
const PER_OCTAVE = 128;
const OCTAVES = 53;

/**
 * Counts of durations in integer nanoseconds, in logarithmic buckets of fixed number: what stays of a run's gaps while
 * it runs, and what its percentiles come from when there are too many gaps to hold. Below 128 ns every duration has a
 * bucket of its own; above, 128 buckets per octave, up to 2^53 ns. Count, mean, deviation and extremes are exact.
 */
export class GapHistogram {
  readonly #counts = new Float64Array(PER_OCTAVE * (OCTAVES - 6));
  #n = 0;
  #mean_ns = 0;
  #squares_ns2 = 0;
  #min_ns = Infinity;
  #max_ns = -Infinity;

  /** Counts one gap; it must be a whole number from 0 to 2^53 − 1 (the clock does not run backwards). */
  observe(gap_ns: number): void {
    const bucket = bucketOf(gap_ns);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#n += 1;
    const difference = gap_ns - this.#mean_ns;
    this.#mean_ns += difference / this.#n;
    this.#squares_ns2 += difference * (gap_ns - this.#mean_ns);
    if (gap_ns < this.#min_ns) this.#min_ns = gap_ns;
    if (gap_ns > this.#max_ns) this.#max_ns = gap_ns;
  }

  get n(): number {
    return this.#n;
  }

  /** Seconds; null when nothing was counted. */
  get mean(): number | null {
    return this.#n === 0 ? null : this.#mean_ns * SECONDS_PER_NS;
  }

  /** The sum of (gap − mean)², in seconds squared. */
  get sumOfSquares(): number {
    return this.#squares_ns2 * SECONDS_PER_NS * SECONDS_PER_NS;
  }

  /** Seconds; null when nothing was counted. */
  get min(): number | null {
    return this.#n === 0 ? null : this.#min_ns * SECONDS_PER_NS;
  }

  /** Seconds; null when nothing was counted. */
  get max(): number | null {
    return this.#n === 0 ? null : this.#max_ns * SECONDS_PER_NS;
  }

  /** The lower of the order statistics at a rank from 0 to 1, from the middle of its bucket: within 0.4 %. Seconds; null without values. */
  quantile(q: number): number | null {
    if (this.#n === 0) return null;
    const rank = Math.floor(q * (this.#n - 1)) + 1;
    let cumulative = 0;
    let bucket = 0;
    while ((cumulative += this.#counts[bucket] ?? 0) < rank) bucket += 1;
    const middle = (lastOf(bucket) + (bucket === 0 ? 0 : lastOf(bucket - 1) + 1)) / 2;
    return Math.min(Math.max(middle, this.#min_ns), this.#max_ns) / 1e9;
  }

  /** The same counts as a classic histogram in seconds: cumulative, without the empty buckets above the largest gap. */
  toClassic(): ClassicHistogram {
    const bounds: number[] = [];
    const counts: number[] = [];
    let cumulative = 0;
    for (let bucket = 0; bucket < this.#counts.length && cumulative < this.#n; bucket++) {
      cumulative += this.#counts[bucket] ?? 0;
      bounds.push(lastOf(bucket) * SECONDS_PER_NS);
      counts.push(cumulative);
    }
    return { bounds: [...bounds, Infinity], counts: [...counts, this.#n], sum: (this.mean ?? 0) * this.#n };
  }
}

/** Index of the bucket that holds a whole number of nanoseconds. */
function bucketOf(ns: number): number {
  if (ns < PER_OCTAVE) return ns;
  let octave = 0;
  let scaled = ns;
  if (scaled >= 2 ** 31) {
    // Bit operations see 32 bits only.
    octave = 24;
    scaled = Math.floor(scaled / 2 ** 24);
  }
  const shift = 24 - Math.clz32(scaled);
  return PER_OCTAVE * (octave + shift) + (scaled >>> shift);
}

/** The largest whole number of nanoseconds in a bucket. */
function lastOf(bucket: number): number {
  if (bucket < 2 * PER_OCTAVE) return bucket;
  const octave = Math.floor(bucket / PER_OCTAVE) - 1;
  return ((bucket % PER_OCTAVE) + PER_OCTAVE + 1) * 2 ** octave - 1;
}
