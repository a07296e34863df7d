import { interpolate, percentilePlace, PERCENTILE_NAMES, PERCENTILES, type Summary } from './percentiles.ts';

/** How often the values must be gone through. */
export const PASSES = 4;

/** Of a value's 64 bits, so many are looked at in a pass. */
const BITS = 16;
const PATTERNS = 2 ** BITS;

/** A place in the order of the values, and the bits that the value there is known to begin with. */
interface Place {
  readonly rank: number;
  /** The patterns found so far, most significant first. */
  readonly patterns: readonly number[];
  /** Its rank among the values that begin with the same bits. */
  readonly within: number;
}

/**
 * The statistics of a great many values, exact as those of `summarize`, in memory that does not grow with their number:
 * the same values are gone through `PASSES` times, in any order. Order statistics are found by their bits, a part of them
 * in each pass.
 *
 * +Infinity (a failed request counted as infinitely slow) is treated separately: there are statistics with and without.
 */
export class PassedSummary {
  #pass = 0;
  #n = 0;
  #infinite = 0;
  #min = Infinity;
  #max = -Infinity;
  #sum = 0;
  #lost = 0;
  #mean = NaN;
  #squares = 0;
  #places: readonly Place[] = [];
  /** First bits of a value that is looked for → how many values have which bits next. */
  #counts = new Map<number, Uint32Array>([[0, new Uint32Array(PATTERNS)]]);
  readonly #value = new Float64Array(1);
  /** The bits of `#value`, least significant first as on every machine that Node and browsers run on. */
  readonly #bits = new Uint16Array(this.#value.buffer);

  /** @throws RangeError when the value is NaN: a missing value is left out by the caller, never counted. */
  add(value: number): void {
    if (this.#pass === 0) this.#observe(value);
    if (value === Infinity) return;
    if (this.#pass === 1) this.#squares += (value - this.#mean) ** 2;
    this.#setBits(value);
    let known = 0;
    for (let i = 0; i < this.#pass; i++) known = known * PATTERNS + this.#patternAt(i);
    const counts = this.#counts.get(known);
    const pattern = this.#patternAt(this.#pass);
    if (counts !== undefined) counts[pattern] = (counts[pattern] ?? 0) + 1;
  }

  /** To be called each time when all values have been added. */
  endPass(): void {
    if (this.#pass === 0) {
      this.#mean = (this.#sum + this.#lost) / this.#finite;
      const ranks = new Set([...neededRanks(this.#n), ...neededRanks(this.#finite)]);
      this.#places = [...ranks]
        .filter((rank) => rank < this.#finite)
        .map((rank) => ({ rank, patterns: [], within: rank }));
    }
    this.#places = this.#places.map((place) => narrowed(place, this.#counts.get(prefix(place)) ?? new Uint32Array()));
    this.#pass += 1;
    const open = this.#pass < PASSES ? this.#places : [];
    this.#counts = new Map(open.map((place) => [prefix(place), new Uint32Array(PATTERNS)]));
  }

  /** Without the infinite values; null when there is no other. */
  get finite(): Summary | null {
    return this.#summary(this.#finite);
  }

  /** With the infinite values; null without any value. */
  get all(): Summary | null {
    return this.#summary(this.#n);
  }

  get #finite(): number {
    return this.#n - this.#infinite;
  }

  #observe(value: number): void {
    if (Number.isNaN(value)) throw new RangeError('a value to summarize is NaN');
    this.#n += 1;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    if (value === Infinity) {
      this.#infinite += 1;
      return;
    }
    // Neumaier's compensated sum, as in `summarize`.
    const next = this.#sum + value;
    this.#lost += Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - next + value : value - next + this.#sum;
    this.#sum = next;
  }

  /** The value's bits, so changed that they stand in the order of the values. −0 is 0. */
  #setBits(value: number): void {
    this.#value[0] = value + 0;
    const bits = this.#bits;
    const top = bits[3] ?? 0;
    if (top < 0x8000) bits[3] = top | 0x8000;
    else for (let i = 0; i < bits.length; i++) bits[i] = ~(bits[i] ?? 0);
  }

  #patternAt(i: number): number {
    return this.#bits[3 - i] ?? 0;
  }

  #valueOf({ patterns }: Place): number {
    const bits = this.#bits;
    for (let i = 0; i < bits.length; i++) bits[3 - i] = patterns[i] ?? 0;
    const top = bits[3] ?? 0;
    if (top >= 0x8000) bits[3] = top & 0x7fff;
    else for (let i = 0; i < bits.length; i++) bits[i] = ~(bits[i] ?? 0);
    return this.#value[0] ?? NaN;
  }

  #summary(n: number): Summary | null {
    if (this.#pass < PASSES) throw new RangeError(`the values were gone through ${this.#pass} times, not ${PASSES}`);
    if (n === 0) return null;
    const byRank = new Map(this.#places.map((place) => [place.rank, this.#valueOf(place)]));
    const at = (rank: number): number => byRank.get(rank) ?? Infinity;
    const percentiles = {} as Summary['percentiles'];
    for (const name of PERCENTILE_NAMES) {
      const { below, above, weight } = percentilePlace(n, PERCENTILES[name]);
      percentiles[name] = interpolate(at(below), at(above), weight);
    }
    if (n > this.#finite) return { n, mean: Infinity, std: NaN, min: this.#min, max: Infinity, percentiles };
    const max = at(n - 1);
    return { n, mean: this.#mean, std: Math.sqrt(this.#squares / n), min: this.#min, max, percentiles };
  }
}

/** The patterns of a place as one number, of at most 48 bits. */
function prefix({ patterns }: Place): number {
  return patterns.reduce((known, pattern) => known * PATTERNS + pattern, 0);
}

function narrowed({ rank, patterns, within }: Place, counts: Uint32Array): Place {
  let below = 0;
  let pattern = 0;
  for (; pattern < counts.length && below + (counts[pattern] ?? 0) <= within; pattern++) below += counts[pattern] ?? 0;
  return { rank, patterns: [...patterns, pattern], within: within - below };
}

/** Ranks (from 0) that the percentiles of n values lie between, and the last. */
function neededRanks(n: number): number[] {
  if (n === 0) return [];
  const ofPercentiles = PERCENTILE_NAMES.flatMap((name) => {
    const { below, above } = percentilePlace(n, PERCENTILES[name]);
    return [below, above];
  });
  return [n - 1, ...ofPercentiles];
}
