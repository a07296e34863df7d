import { FloatColumn } from './float-column.ts';
import { interpolate, percentilePlace, PERCENTILE_NAMES, PERCENTILES, type Summary } from './percentiles.ts';

/** So many values that begin with the same bits are held; of more it is counted how they go on. */
const HELD = 65_536;

/** Of 12 bits, sign and exponent. */
const OCTAVES = 2 ** 12;
/** Of the bits that are looked at in one pass. */
const PATTERNS = 2 ** 16;

/** The bits of values as they stand in the order of the values: sign and exponent (12 bits), then the fraction (52 bits). */
class Bits {
  readonly #value = new Float64Array(1);
  /** Least significant first, as on every machine that Node and browsers run on. */
  readonly #words = new Uint32Array(this.#value.buffer);
  #high = 0;
  #low = 0;

  /** −0 is 0. */
  set(value: number): void {
    this.#value[0] = value + 0;
    const low = this.#words[0] ?? 0;
    const high = this.#words[1] ?? 0;
    const isNegative = high >= 0x8000_0000;
    this.#high = (isNegative ? ~high : high ^ 0x8000_0000) >>> 0;
    this.#low = (isNegative ? ~low : low) >>> 0;
  }

  get octave(): number {
    return this.#high >>> 20;
  }

  /** Sixteen bits of the fraction from bit 16 × `depth` on; at depth 3 the last four. */
  pattern(depth: number): number {
    if (depth === 0) return (this.#high >>> 4) & 0xffff;
    if (depth === 1) return ((this.#high & 0xf) << 12) | (this.#low >>> 20);
    return depth === 2 ? (this.#low >>> 4) & 0xffff : this.#low & 0xf;
  }
}

/** The values that begin with the same bits as one that is looked for. */
class Group {
  readonly children = new Map<number, Group>();
  #min = Infinity;
  #max = -Infinity;
  #values: FloatColumn | null = new FloatColumn();
  #sorted: Float64Array | null = null;
  #counts = new Uint32Array();

  /** `pattern` are the bits that come next. */
  add(value: number, pattern: number, bits: Bits, depth: number): void {
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    if (this.#values === null) this.#count(pattern);
    else if (this.#values.length < HELD) this.#values.append(value);
    else {
      this.#counts = new Uint32Array(PATTERNS);
      for (const held of this.#values.toArray()) {
        bits.set(held);
        this.#count(bits.pattern(depth));
      }
      this.#values = null;
      this.#count(pattern);
    }
  }

  /** The value of a rank in the group; null if it is not known yet. */
  valueAt(rank: number): number | null {
    if (this.#min === this.#max) return this.#min;
    if (this.#values === null) return null;
    this.#sorted ??= this.#values.toArray().sort();
    return this.#sorted[rank] ?? null;
  }

  narrowed(rank: number): { pattern: number; within: number } {
    return placeIn(this.#counts, rank);
  }

  #count(pattern: number): void {
    this.#counts[pattern] = (this.#counts[pattern] ?? 0) + 1;
  }
}

/** A place in the order of the values, which is not known yet: its rank, and that among the values of its group. */
interface Place {
  readonly rank: number;
  readonly group: Group;
  readonly within: number;
}

/**
 * The statistics of a great many values, exact as those of `summarize`, in memory that does not grow with their number:
 * the same values are gone through until it is `done`, in any order. The first time it is counted how they begin; then
 * those that begin like the order statistics that are looked for are held, and if they are too many, it goes on so.
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
  /** Octave → the next bits → in the first pass how many values, then the number of their group, from 1. */
  readonly #octaves = new Array<Uint32Array | undefined>(OCTAVES);
  #groups: Group[] = [];
  #places: readonly Place[] = [];
  readonly #known = new Map<number, number>();
  readonly #bits = new Bits();

  /** @throws RangeError when the value is NaN: a missing value is left out by the caller, never counted. */
  add(value: number): void {
    if (this.#pass === 0) this.#observe(value);
    if (value === Infinity) return;
    if (this.#pass === 1) this.#squares += (value - this.#mean) ** 2;
    const bits = this.#bits;
    bits.set(value);
    const octave = this.#octaves[bits.octave];
    const pattern = bits.pattern(0);
    if (this.#pass === 0) {
      const counts = octave ?? this.#newOctave(bits.octave);
      counts[pattern] = (counts[pattern] ?? 0) + 1;
      return;
    }
    const number = octave?.[pattern] ?? 0;
    // Most values are far from those that are looked for.
    if (number === 0) return;
    let group = this.#groups[number - 1];
    let depth = 1;
    for (; group !== undefined && group.children.size > 0; depth++) group = group.children.get(bits.pattern(depth));
    group?.add(value, bits.pattern(depth), bits, depth);
  }

  /** To be called each time when all values have been added. */
  endPass(): void {
    if (this.#pass === 0) this.#divide();
    else this.#places = this.#places.flatMap((place) => this.#narrowed(place) ?? []);
    this.#pass += 1;
  }

  /** Whether the values have been gone through often enough. */
  get done(): boolean {
    return this.#pass > 1 && this.#places.length === 0;
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

  #newOctave(octave: number): Uint32Array {
    const counts = new Uint32Array(PATTERNS);
    this.#octaves[octave] = counts;
    return counts;
  }

  /** Makes the groups of the ranks that are needed. */
  #divide(): void {
    this.#mean = (this.#sum + this.#lost) / this.#finite;
    const ranks = [...new Set([...neededRanks(this.#n), ...neededRanks(this.#finite)])]
      .filter((rank) => rank < this.#finite)
      .sort((a, b) => a - b);
    const places: Place[] = [];
    let below = 0;
    for (const [octave, counts] of this.#octaves.entries()) {
      if (counts === undefined) continue;
      const total = counts.reduce((sum, count) => sum + count, 0);
      const inside = ranks
        .filter((rank) => rank >= below && rank < below + total)
        .map((rank) => ({ rank, ...placeIn(counts, rank - below) }));
      counts.fill(0);
      for (const { rank, pattern, within } of inside) {
        counts[pattern] ||= this.#groups.push(new Group());
        const group = this.#groups[(counts[pattern] ?? 0) - 1];
        if (group !== undefined) places.push({ rank, group, within });
      }
      if (inside.length === 0) this.#octaves[octave] = undefined;
      below += total;
    }
    this.#places = places;
  }

  /** A place in a smaller group; null if its value is known now. */
  #narrowed({ rank, group, within }: Place): Place | null {
    const value = group.valueAt(within);
    if (value !== null) {
      this.#known.set(rank, value);
      return null;
    }
    const next = group.narrowed(within);
    const child = group.children.get(next.pattern) ?? new Group();
    group.children.set(next.pattern, child);
    return { rank, group: child, within: next.within };
  }

  #summary(n: number): Summary | null {
    if (!this.done) throw new RangeError(`the values have to be gone through again, after ${this.#pass} times`);
    if (n === 0) return null;
    const at = (rank: number): number => this.#known.get(rank) ?? Infinity;
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

/** The pattern that holds a rank, and the rank among the values with that pattern. */
function placeIn(counts: Uint32Array, rank: number): { pattern: number; within: number } {
  let below = 0;
  let pattern = 0;
  for (; pattern < counts.length && below + (counts[pattern] ?? 0) <= rank; pattern++) below += counts[pattern] ?? 0;
  return { pattern, within: rank - below };
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
