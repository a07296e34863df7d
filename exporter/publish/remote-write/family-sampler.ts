import type { SampleInput } from '../../../core/exposition/index.ts';
import type { NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import type { LiveFamily } from '../family.ts';
import { labelPairs, type PushedSeries, type SeriesLayout } from './pushed-series.ts';

/** A native histogram that is read for each point. */
export interface NativeSource {
  /** Name of its family. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  histogram(): NativeHistogram;
}

/** The values of all series, and their layout if it differs from that of the previous point. */
export interface FamilyReading {
  readonly layout: SeriesLayout | null;
  readonly values: Float64Array;
  readonly native: readonly NativeHistogram[];
}

export interface FamilySamplerOptions {
  readonly families: readonly LiveFamily[];
  readonly native?: readonly NativeSource[];
  /** Added to every series; a label of the family with the same name takes precedence. */
  readonly extraLabels: Readonly<Record<string, string>>;
  readonly created_ms: number | null;
}

/**
 * Reads families as rows of numbers. The layout of the series is returned once, and again if a family gains or loses
 * series. Samples without a run_id are left out: they belong to this process, not to the run.
 */
export class FamilySampler {
  readonly #options: FamilySamplerOptions;
  #sizes: readonly number[] | null = null;

  constructor(options: FamilySamplerOptions) {
    this.#options = options;
  }

  read(): FamilyReading {
    const samples = this.#options.families.map((family) => family.samples().filter(isOfRun));
    const sizes = samples.map(({ length }) => length);
    const isNew = this.#sizes === null || sizes.some((size, i) => size !== this.#sizes?.[i]);
    this.#sizes = sizes;
    const values = new Float64Array(sizes.reduce((sum, size) => sum + size, 0));
    let at = 0;
    for (const family of samples) for (const { value } of family) values[at++] = value;
    return {
      layout: isNew ? this.#layout(samples) : null,
      values,
      native: (this.#options.native ?? []).map((source) => source.histogram()),
    };
  }

  #layout(samples: readonly (readonly SampleInput[])[]): SeriesLayout {
    const { families, native = [], extraLabels, created_ms } = this.#options;
    const series = (family: number, name: string, labels: Readonly<Record<string, string>>): PushedSeries => ({
      family,
      labels: labelPairs(name, { ...extraLabels, ...labels }),
    });
    return {
      families: families.map(({ name, help, type }) => ({ name, help, type })),
      series: samples.flatMap((of, i) =>
        of.map(({ metricName, labels, sharedLabels }) =>
          series(i, metricName ?? families[i]?.name ?? '', { ...sharedLabels, ...labels }),
        ),
      ),
      nativeSeries: native.map(({ name, labels }) =>
        series(
          families.findIndex((family) => family.name === name),
          name,
          labels,
        ),
      ),
      created_ms,
    };
  }
}

const isOfRun = ({ labels, sharedLabels }: SampleInput): boolean =>
  labels['run_id'] !== undefined || sharedLabels?.['run_id'] !== undefined;
