/**
 * A dip below the planned load that is shorter than this is a slot being refilled and does not end the full load:
 * between the end of one request and the sending of the next the client itself needs time.
 */
const REFILL_NS = 10_000_000;

/** The stretches of a run in which as many requests were in flight as planned. Times are ns since the run's start. */
export class FullLoad {
  /** Starts and ends by turns, ascending. */
  readonly #edges: readonly number[];

  /**
   * `sent_ns` and `end_ns` are those of the measured requests, each array in any order. A request is in flight from
   * when it was sent until it ended. `planned` is the concurrency that the load aims at, at least 1.
   */
  constructor(sent_ns: Float64Array, end_ns: Float64Array, planned: number) {
    this.#edges = bridged(crossings(sent_ns.slice().sort(), end_ns.slice().sort(), planned));
  }

  /** How long the load was full, in seconds; 0 when it never was. */
  get seconds(): number {
    let total_ns = 0;
    this.#edges.forEach((edge, i) => (total_ns += i % 2 === 0 ? -edge : edge));
    return total_ns * 1e-9;
  }

  /** Whether the load was full at a moment, both edges of each stretch included. */
  holds(at_ns: number): boolean {
    let low = 0;
    let high = this.#edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#edges[middle] ?? NaN) < at_ns) low = middle + 1;
      else high = middle;
    }
    return low % 2 === 1 || this.#edges[low] === at_ns;
  }
}

/** The moments at which the number in flight reaches `planned` and falls below it, by turns. */
function crossings(sent_ns: Float64Array, end_ns: Float64Array, planned: number): number[] {
  const edges: number[] = [];
  let inFlight = 0;
  let ended = 0;
  for (const sent of sent_ns) {
    // Who is sent at the moment of another's end takes its place: the load does not dip.
    for (let end = end_ns[ended] ?? Infinity; end < sent; end = end_ns[ended] ?? Infinity) {
      if (inFlight === planned) edges.push(end);
      inFlight -= 1;
      ended += 1;
    }
    inFlight += 1;
    if (inFlight === planned) edges.push(sent);
  }
  for (; ended < end_ns.length; ended++, inFlight--) {
    if (inFlight === planned) edges.push(end_ns[ended] ?? NaN);
  }
  return edges;
}

/** The same edges without the short dips, and without stretches that last no time. */
function bridged(edges: readonly number[]): number[] {
  const kept: number[] = [];
  for (let i = 0; i < edges.length; i += 2) {
    const [start = NaN, end = NaN] = [edges[i], edges[i + 1]];
    const before = kept[kept.length - 1];
    if (end === start) continue;
    if (before !== undefined && start - before < REFILL_NS) kept[kept.length - 1] = end;
    else kept.push(start, end);
  }
  return kept;
}
