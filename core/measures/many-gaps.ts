import { interpolate } from '../stats/interpolate.ts';
import { selectRanks } from '../stats/select.ts';

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
