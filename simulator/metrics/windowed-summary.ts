import { Summary } from './series.ts';

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
