import type { FamilyInput } from '../../../core/exposition/index.ts';
import type { NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import type { RunWindow } from '../finished-run.ts';
import { RUN_INFO } from '../run-info.ts';
import { RUN_TARGET_INFO } from '../target-info.ts';

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

/** An example of a series of numbers, such as the trace of a request in a bucket. */
export interface PointExemplar {
  /** Index of its series in the layout. */
  readonly series: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly time_ms: number;
}

/** All series of a layout at one instant. */
export interface SeriesPoint {
  /** Milliseconds since the epoch. */
  readonly time_ms: number;
  /** One number per series; null ends the series at this instant. */
  readonly values: readonly number[] | null;
  /** One histogram per native series; null as for numbers. */
  readonly native: readonly NativeHistogram[] | null;
  /** Those that are new since the point before; absent: none. */
  readonly exemplars?: readonly PointExemplar[];
}

/** A point as passed between threads. */
export interface PointMessage {
  readonly time_ms: number;
  /** Null ends the series. */
  readonly values: Float64Array | readonly number[] | null;
  readonly native: readonly NativeHistogram[] | null;
  readonly exemplars?: readonly PointExemplar[];
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

/**
 * The last value is written again this long after the end, so that queries with a usual step find it, followed by the
 * stale marker.
 */
export const FINAL_VALUE_HELD_MS = 15_000;
export const STALE_AFTER_MS = FINAL_VALUE_HELD_MS + 1_000;

/**
 * The metadata of a run must exist at each of its instants for joins: well within Prometheus' look-back of five
 * minutes.
 */
export const INFO_EVERY_MS = 60_000;

/** Series with all of their points, in time order. */
export interface TimedSeries {
  readonly layout: SeriesLayout;
  readonly points: readonly SeriesPoint[];
}

/**
 * A finished run at its original times. Metadata spans the whole window; results are written at the end of the window;
 * counters and histograms start at 0 at its start. The last values are held for a moment, then the series end.
 */
export function finishedSeries(
  families: readonly FamilyInput[],
  { start_ms, end_ms: end }: RunWindow,
  extraLabels: Readonly<Record<string, string>>,
): readonly TimedSeries[] {
  const end_ms = Math.max(end, start_ms + 1);
  const isInfo = ({ name }: FamilyInput): boolean => name === RUN_INFO.name || name === RUN_TARGET_INFO.name;
  const isCumulative = ({ type }: FamilyInput): boolean => type === 'counter' || type === 'histogram';
  const through = Array.from(
    { length: Math.ceil((end_ms - start_ms) / INFO_EVERY_MS) },
    (_, i) => start_ms + i * INFO_EVERY_MS,
  );
  const parts: readonly (readonly [
    of: readonly FamilyInput[],
    before: (values: readonly number[]) => SeriesPoint[],
  ])[] = [
    [families.filter(isInfo), (values) => through.map((time_ms) => ({ time_ms, values, native: [] }))],
    [families.filter((family) => !isInfo(family) && !isCumulative(family)), () => []],
    [families.filter(isCumulative), (values) => [{ time_ms: start_ms, values: values.map(() => 0), native: [] }]],
  ];
  return parts.flatMap(([of, before]) => {
    if (of.length === 0) return [];
    const values = valuesOf(of);
    const points = [
      ...before(values),
      { time_ms: end_ms, values, native: [] },
      { time_ms: end_ms + FINAL_VALUE_HELD_MS, values, native: [] },
      { time_ms: end_ms + STALE_AFTER_MS, values: null, native: null },
    ];
    return [{ layout: layoutOf(of, extraLabels, start_ms), points }];
  });
}
