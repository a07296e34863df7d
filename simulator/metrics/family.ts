export type Labels = Readonly<Record<string, string>>;

/** One series of a counter or gauge. `created_s` is its creation as Unix time; null: the page does not report it. */
export class Scalar {
  value = 0;
  readonly created_s: number | null;

  constructor(created_s: number | null) {
    this.created_s = created_s;
  }

  add(amount: number): void {
    this.value += amount;
  }
}

/** One series of a summary without quantiles: how many, and their sum. */
export class Summary {
  count = 0;
  sum = 0;
  readonly created_s: number | null;

  constructor(created_s: number | null) {
    this.created_s = created_s;
  }

  observe(value: number): void {
    this.count++;
    this.sum += value;
  }
}

/** A summary with quantiles of the observations of the last minute, as Triton's. Empty window: no value. */
export class WindowedSummary extends Summary {
  static readonly quantiles: readonly number[] = [0.5, 0.9, 0.95, 0.99, 0.999];
  static readonly #windowSeconds = 60;
  readonly #nowSeconds: () => number;
  #window: { readonly time_s: number; readonly value: number }[] = [];

  /** @param nowSeconds any clock that does not go back */
  constructor(nowSeconds: () => number) {
    super(null);
    this.#nowSeconds = nowSeconds;
  }

  override observe(value: number): void {
    super.observe(value);
    this.#window.push({ time_s: this.#nowSeconds(), value });
  }

  /** One value per element of `quantiles`: the smallest that at least that share does not exceed; NaN without any. */
  quantileValues(): number[] {
    const from_s = this.#nowSeconds() - WindowedSummary.#windowSeconds;
    this.#window = this.#window.filter(({ time_s }) => time_s > from_s);
    const sorted = Float64Array.from(this.#window, ({ value }) => value).sort();
    return WindowedSummary.quantiles.map((q) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? NaN);
  }
}

/** One series of a classic histogram. An observation belongs to the first bound that it does not exceed. */
export class Histogram {
  /** Observations per bucket, not cumulative; the last is the overflow bucket. */
  readonly counts: Float64Array;
  readonly bounds: readonly number[];
  sum = 0;
  readonly created_s: number | null;

  /** @param bounds finite upper bounds, ascending */
  constructor(bounds: readonly number[], created_s: number | null) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
    this.created_s = created_s;
  }

  get count(): number {
    return this.counts.reduce((total, count) => total + count, 0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? Infinity)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

interface Named {
  /** As on the TYPE line of the text format. */
  readonly name: string;
  readonly help: string;
}

interface Entry<S> {
  readonly labels: Labels;
  readonly series: S;
}

export type Series = Scalar | Summary | Histogram;

/** A metric family whose series are kept in the order in which they were first requested. */
export class Family<S extends Series = Series> {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'summary' | 'histogram';
  readonly #make: () => S;
  readonly #entries = new Map<string, Entry<S>>();

  constructor({ name, help }: Named, type: Family['type'], make: () => S) {
    this.name = name;
    this.help = help;
    this.type = type;
    this.#make = make;
  }

  /** The series with these labels; made, at zero, when it is not there yet. */
  series(labels: Labels = {}): S {
    const key = JSON.stringify(Object.entries(labels).sort());
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { labels, series: this.#make() };
      this.#entries.set(key, entry);
    }
    return entry.series;
  }

  entries(): Iterable<Entry<S>> {
    return this.#entries.values();
  }
}
