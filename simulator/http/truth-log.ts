import type { MonotonicClock } from './engine-driver.ts';

/** How much the log keeps. */
export interface TruthLimits {
  readonly requests: number;
  /** Sixteen bytes each. */
  readonly tokens: number;
}

export const DEFAULT_TRUTH_LIMITS: TruthLimits = { requests: 100_000, tokens: 8_000_000 };

/** When the tokens of one request were due, and when they were written to the socket. Times of the server's clock. */
export class TruthRecord {
  outcome: 'running' | 'finished' | 'aborted' = 'running';
  readonly id: string;
  readonly arrival_ns: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly #due_ns: Float64Array;
  readonly #written_ns: Float64Array;
  #due = 0;
  #written = 0;

  constructor(request: { id: string; arrival_ns: number; promptTokens: number; outputTokens: number }) {
    this.id = request.id;
    this.arrival_ns = request.arrival_ns;
    this.promptTokens = request.promptTokens;
    this.outputTokens = request.outputTokens;
    this.#due_ns = new Float64Array(request.outputTokens);
    this.#written_ns = new Float64Array(request.outputTokens);
  }

  addDue(time_ns: number): void {
    this.#due_ns[this.#due++] = time_ns;
  }

  /** Everything that was due is now handed to the socket. */
  allWritten(time_ns: number): void {
    this.#written_ns.fill(time_ns, this.#written, this.#due);
    this.#written = this.#due;
  }

  toJson(clock: MonotonicClock): string {
    const absolute = (times: Float64Array, n: number): number[] =>
      Array.from(times.subarray(0, n), (time_ns) => clock.absolute_ns(time_ns));
    return JSON.stringify({
      id: this.id,
      arrival: clock.absolute_ns(this.arrival_ns),
      prompt_tokens: this.promptTokens,
      output_tokens: this.outputTokens,
      outcome: this.outcome,
      due: absolute(this.#due_ns, this.#due),
      written: absolute(this.#written_ns, this.#written),
    });
  }
}

/** The last requests that the server accepted, within bounds of memory: the oldest go first, and are counted. */
export class TruthLog {
  readonly #limits: TruthLimits;
  readonly #records = new Map<string, TruthRecord>();
  #tokens = 0;
  #droppedRequests = 0;
  #droppedTokens = 0;

  constructor(limits: TruthLimits = DEFAULT_TRUTH_LIMITS) {
    this.#limits = limits;
  }

  add(record: TruthRecord): void {
    this.#records.set(record.id, record);
    this.#tokens += record.outputTokens;
    for (const oldest of this.#records.values()) {
      if (this.#records.size <= this.#limits.requests && this.#tokens <= this.#limits.tokens) break;
      this.#records.delete(oldest.id);
      this.#tokens -= oldest.outputTokens;
      this.#droppedRequests++;
      this.#droppedTokens += oldest.outputTokens;
    }
  }

  /**
   * The log as one JSON object, in pieces. Times are integer nanoseconds of CLOCK_MONOTONIC.
   *
   * @param id only this request
   */
  *json(clock: MonotonicClock, id: string | null): Generator<string> {
    const head = {
      clock: 'CLOCK_MONOTONIC',
      unit: 'ns',
      origin: Number(clock.origin_ns),
      dropped_requests: this.#droppedRequests,
      dropped_tokens: this.#droppedTokens,
    };
    yield `${JSON.stringify(head).slice(0, -1)},"requests":[`;
    let separator = '';
    for (const record of id === null ? [...this.#records.values()] : [this.#records.get(id)]) {
      if (record === undefined) continue;
      yield `${separator}\n${record.toJson(clock)}`;
      separator = ',';
    }
    yield '\n]}\n';
  }
}
