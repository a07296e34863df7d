import type { FamilyInput } from '../../../core/exposition/index.ts';
import type { NativeHistogram } from '../../../core/histogram/native-histogram.ts';

/** Metadata of a family. */
export interface PushedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'untyped';
}

/** Name and value of each label, including `__name__`: sorted by name, none empty. */
export type SeriesLabels = readonly (readonly [name: string, value: string])[];

export interface PushedSeries {
  /** Index of its family in the layout. */
  readonly family: number;
  readonly labels: SeriesLabels;
}

/** The set of series, sent once for many points. */
export interface SeriesLayout {
  readonly families: readonly PushedFamily[];
  /** Series of numbers. */
  readonly series: readonly PushedSeries[];
  /** Series of native histograms. */
  readonly nativeSeries: readonly PushedSeries[];
  /** Start of counters and histograms at 0, milliseconds since the epoch; null if unknown. */
  readonly created_ms: number | null;
}

/** All series of a layout at one instant. */
export interface SeriesPoint {
  /** Milliseconds since the epoch. */
  readonly time_ms: number;
  /** One number per series; null ends the series at this instant. */
  readonly values: readonly number[] | null;
  /** One histogram per native series; null as for numbers. */
  readonly native: readonly NativeHistogram[] | null;
}

/** A point as passed between threads. */
export interface PointMessage {
  readonly time_ms: number;
  /** Null ends the series. */
  readonly values: Float64Array | readonly number[] | null;
  readonly native: readonly NativeHistogram[] | null;
}

/** Number of samples of a point, including native histograms. */
export function sampleCount({ series, nativeSeries }: SeriesLayout): number {
  return series.length + nativeSeries.length;
}

/** The labels of a series as remote write requires them: without empty ones, sorted by name. */
export function labelPairs(name: string, labels: Readonly<Record<string, string>>): SeriesLabels {
  return [['__name__', name] as const, ...Object.entries(labels)]
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

/** The series of these families in their order; `extraLabels` are added to each. */
export function layoutOf(
  families: readonly FamilyInput[],
  extraLabels: Readonly<Record<string, string>>,
  created_ms: number | null,
): SeriesLayout {
  return {
    families: families.map(({ name, help, type }) => ({ name, help, type })),
    series: families.flatMap(({ name, samples }, family) =>
      samples.map(({ metricName, labels, sharedLabels }) => ({
        family,
        labels: labelPairs(metricName ?? name, { ...extraLabels, ...sharedLabels, ...labels }),
      })),
    ),
    nativeSeries: [],
    created_ms,
  };
}

/** The values of the same series. */
export function valuesOf(families: readonly FamilyInput[]): readonly number[] {
  return families.flatMap(({ samples }) => samples.map(({ value }) => value));
}
