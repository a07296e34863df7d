import { ConfigurationError } from '../../errors/configuration-error.ts';

/** About 0.8 GB of rows without hash ids. */
const MAX_ROWS = 2 ** 25;
const FIRST_CAPACITY = 1024;

/** One request of a trace. */
export interface TraceRow {
  /** Nanoseconds since the start of the trace; null: it has no time. */
  readonly due_ns: number | null;
  readonly inputTokens: number;
  /** Null: the run's setting. */
  readonly outputTokens: number | null;
  readonly hashIds: readonly number[];
}

/** The rows of a trace in columns of numbers: a file of many millions of rows fits into memory. */
export class TraceRows {
  readonly #due_ns = new NumberColumn();
  readonly #inputs = new NumberColumn();
  readonly #outputs = new NumberColumn();
  readonly #hashEnds = new NumberColumn();
  readonly #hashIds = new NumberColumn();
  /** The first row without a time. */
  #untimed: number | null = null;

  get count(): number {
    return this.#inputs.length;
  }

  /** Whether the rows have times; `refuse` is called when only some do, with the first that does not. */
  times(refuse: (row: number) => never): Float64Array | undefined {
    const times = this.#due_ns.values();
    if (this.#untimed === null) return times;
    return times.some((due_ns) => !Number.isNaN(due_ns)) ? refuse(this.#untimed) : undefined;
  }

  /** Throws a `ConfigurationError` when there are too many. */
  push({ due_ns, inputTokens, outputTokens, hashIds }: TraceRow, file: string): void {
    if (this.count >= MAX_ROWS) throw new ConfigurationError(`${file}: more than ${MAX_ROWS} rows; split the file`);
    if (due_ns === null) this.#untimed ??= this.count;
    this.#due_ns.push(due_ns ?? NaN);
    this.#inputs.push(inputTokens);
    this.#outputs.push(outputTokens ?? NaN);
    for (const id of hashIds) this.#hashIds.push(id);
    this.#hashEnds.push(this.#hashIds.length);
  }

  inputTokens(row: number): number {
    return this.#inputs.at(row);
  }

  outputTokens(row: number): number | null {
    const tokens = this.#outputs.at(row);
    return Number.isNaN(tokens) ? null : tokens;
  }

  hashIds(row: number): Float64Array {
    return this.#hashIds.values().subarray(row === 0 ? 0 : this.#hashEnds.at(row - 1), this.#hashEnds.at(row));
  }
}

/** A list of numbers that grows by doubling. */
class NumberColumn {
  #values = new Float64Array(FIRST_CAPACITY);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const longer = new Float64Array(this.#values.length * 2);
      longer.set(this.#values);
      this.#values = longer;
    }
    this.#values[this.length++] = value;
  }

  at(index: number): number {
    return this.#values[index] ?? NaN;
  }

  values(): Float64Array {
    return this.#values.subarray(0, this.length);
  }
}
