import type { Exemplar, SampleInput } from '../../../core/exposition/index.ts';
import type { NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import type { LiveFamily } from '../family.ts';
import { labelPairs, type PointExemplar, type PushedSeries, type SeriesLayout } from './pushed-series.ts';

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
  /** Those that the previous point did not have. */
  readonly exemplars: readonly PointExemplar[];
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
  #known: ReadonlySet<Exemplar> = new Set();

  constructor(options: FamilySamplerOptions) {
    this.#options = options;
  }

  read(): FamilyReading {
    const samples = this.#options.families.map((family) => family.samples().filter(isOfRun));
    const sizes = samples.map(({ length }) => length);
    const isNew = this.#sizes === null || sizes.some((size, i) => size !== this.#sizes?.[i]);
    this.#sizes = sizes;
    const values = new Float64Array(sizes.reduce((sum, size) => sum + size, 0));
    const exemplars: PointExemplar[] = [];
    const known = new Set<Exemplar>();
    let at = 0;
    for (const family of samples) {
      for (const { value, exemplar } of family) {
        if (exemplar !== undefined) known.add(exemplar);
        if (exemplar !== undefined && !this.#known.has(exemplar)) exemplars.push(pointExemplar(exemplar, at));
        values[at++] = value;
      }
    }
    this.#known = known;
    return {
      layout: isNew ? this.#layout(samples) : null,
      values,
      native: (this.#options.native ?? []).map((source) => source.histogram()),
      exemplars,
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

const pointExemplar = ({ labels, value, timestampSeconds }: Exemplar, series: number): PointExemplar => ({
  series,
  labels,
  value,
  time_ms: Math.round((timestampSeconds ?? 0) * 1e3),
});

const isOfRun = ({ labels, sharedLabels }: SampleInput): boolean =>
  labels['run_id'] !== undefined || sharedLabels?.['run_id'] !== undefined;
