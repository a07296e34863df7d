import type { FamilyInput } from '../../../core/exposition/index.ts';
import type { RunWindow } from '../finished-run.ts';
import { RUN_INFO } from '../run-info.ts';
import { RUN_TARGET_INFO } from '../target-info.ts';
import { layoutOf, valuesOf, type SeriesLayout, type SeriesPoint } from './pushed-series.ts';

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
