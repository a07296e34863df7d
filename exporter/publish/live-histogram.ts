import { formatCanonicalNumber } from '../../core/exposition/index.ts';
import type { SampleInput } from '../../core/exposition/index.ts';
import type { LiveFamily } from './family.ts';

/**
 * A classic histogram that is cheap to observe: counts in a typed array, no label lookup, nothing allocated. It becomes
 * lines of text only when it is scraped.
 */
export class LiveHistogram implements LiveFamily {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly #labels: Readonly<Record<string, string>>;
  readonly #bounds: Float64Array;
  readonly #bucketLabels: readonly { readonly le: string }[];
  /** Not cumulative; the last one is the overflow bucket. */
  readonly #counts: Float64Array;
  readonly #sum = new Float64Array(1);

  /** `bounds` are the buckets' upper bounds, ascending, in the unit of the values, without `+Inf`. */
  constructor(name: string, help: string, labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#labels = labels;
    this.#bounds = Float64Array.from(bounds);
    this.#bucketLabels = [...bounds.map(formatCanonicalNumber), '+Inf'].map((le) => ({ le }));
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** Counts a value in the first bucket whose upper bound is not below it. */
  observe(value: number): void {
    const bounds = this.#bounds;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= (bounds[middle] as number)) high = middle;
      else low = middle + 1;
    }
    this.#counts[low] = (this.#counts[low] as number) + 1;
    this.#sum[0] = (this.#sum[0] as number) + value;
  }

  samples(): readonly SampleInput[] {
    const sharedLabels = this.#labels;
    let cumulative = 0;
    const samples: SampleInput[] = this.#bucketLabels.map((labels, i) => {
      cumulative += this.#counts[i] ?? 0;
      return { metricName: `${this.name}_bucket`, labels, sharedLabels, value: cumulative };
    });
    samples.push(
      { metricName: `${this.name}_sum`, labels: {}, sharedLabels, value: this.#sum[0] ?? 0 },
      { metricName: `${this.name}_count`, labels: {}, sharedLabels, value: cumulative },
    );
    return samples;
  }
}
