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
