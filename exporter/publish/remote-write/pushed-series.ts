import type { NativeHistogram } from '../../../core/histogram/native/native-histogram.ts';

/** What is told of a family beside its samples. */
export interface PushedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'untyped';
}

/** Name and value of each label, `__name__` among them: sorted by name, none empty. */
export type LabelPairs = readonly (readonly [name: string, value: string])[];

export interface PushedSeries {
  /** Place of its family in the layout. */
  readonly family: number;
  readonly labels: LabelPairs;
}

/** Which series there are: said once, for many points in time. */
export interface SeriesLayout {
  readonly families: readonly PushedFamily[];
  /** Series of numbers. */
  readonly series: readonly PushedSeries[];
  /** Series of native histograms. */
  readonly nativeSeries: readonly PushedSeries[];
  /** When counters and histograms began at 0, milliseconds since the epoch; null: unknown. */
  readonly created_ms: number | null;
}

/** All series of a layout at one instant. */
export interface SeriesPoint {
  /** Milliseconds since the epoch. */
  readonly time_ms: number;
  /** One number per series; null: from this instant on the series are no more. */
  readonly values: readonly number[] | null;
  /** One histogram per native series; null as above. */
  readonly native: readonly NativeHistogram[] | null;
}

/** How many samples a point is, native histograms among them. */
export function sampleCount({ series, nativeSeries }: SeriesLayout): number {
  return series.length + nativeSeries.length;
}

/** The labels of a series as remote write wants them: without empty ones, in the order of their names. */
export function labelPairs(name: string, labels: Readonly<Record<string, string>>): LabelPairs {
  return [['__name__', name] as const, ...Object.entries(labels)]
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
