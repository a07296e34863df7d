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
   * `sent_ns` and `end_ns` are those of the measured requests, each ascending; they are gone through once. A request is in
   * flight from when it was sent until it ended. `planned` is the concurrency that the load aims at, at least 1.
   */
  constructor(sent_ns: Iterable<number>, end_ns: Iterable<number>, planned: number) {
    this.#edges = bridged(fullStretches(sent_ns, end_ns, planned));
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

type Stretch = readonly [start_ns: number, end_ns: number];

/** From when the number in flight reaches `planned` until it falls below it; both are in order. */
function* fullStretches(sent_ns: Iterable<number>, end_ns: Iterable<number>, planned: number): Generator<Stretch> {
  let inFlight = 0;
  let since = NaN;
  const ends = end_ns[Symbol.iterator]();
  let end = ends.next();
  for (const sent of sent_ns) {
    // Who is sent at the moment of another's end takes its place: the load does not dip.
    for (; end.done !== true && end.value < sent; end = ends.next()) {
      if (inFlight === planned) yield [since, end.value];
      inFlight -= 1;
    }
    inFlight += 1;
    if (inFlight === planned) since = sent;
  }
  for (; end.done !== true; end = ends.next(), inFlight--) {
    if (inFlight === planned) yield [since, end.value];
  }
}

/** The edges of the stretches, without the short dips between them and without stretches that last no time. */
function bridged(stretches: Iterable<Stretch>): number[] {
  const edges: number[] = [];
  for (const [start, end] of stretches) {
    const before = edges[edges.length - 1];
    if (end === start) continue;
    if (before !== undefined && start - before < REFILL_NS) edges[edges.length - 1] = end;
    else edges.push(start, end);
  }
  return edges;
}
