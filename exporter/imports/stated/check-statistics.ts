import { quantileBounds } from '../../../core/histogram/bounds.ts';
import type { GapHistogram } from '../../../core/measures/gap-histogram.ts';
import { percentile as linear, summarize } from '../../../core/stats/percentiles.ts';
import { quantity } from '../../../core/text/quantities.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { ImportNotes } from '../import-notes.ts';
import { exactStated, inBaseUnits } from './stated-measures.ts';
import type { ReportedStatistics, StatedIdentity, StatedStatistics } from './stated-measures.ts';

/** How a tool takes a percentile from values in ascending order. */
export type PercentileMethod = (ascending: Float64Array, q: number) => number;

/** numpy's default: linear between order statistics. */
export const NUMPY_LINEAR: PercentileMethod = linear;

/** The value at rank ⌊n·q⌋ from 0, as trtllm-bench takes it. */
export const FLOOR_RANK: PercentileMethod = (ascending, q) =>
  ascending[Math.min(Math.floor(ascending.length * q), ascending.length - 1)] ?? NaN;

/** What the rounding of floats and of nanoseconds leaves open. */
const RELATIVE_TOLERANCE = 1e-6;
const ABSOLUTE_TOLERANCE_SECONDS = 2e-9;
/** Relative difference that is noted. */
const VISIBLE = 1e-3;

/**
 * Compares the statistics that a file reports (seconds) with those of its own values (seconds), each by the tool's own
 * method; what disagrees is noted. Without values there is nothing to compare.
 */
export function checkStatistics(
  what: string,
  reported: ReportedStatistics,
  values: Float64Array,
  method: PercentileMethod,
  notes: ImportNotes,
): void {
  const summary = summarize(values);
  if (summary === null) return;
  const ascending = values.slice().sort();
  const pairs: (readonly [string, number | null, number])[] = [
    ['mean', reported.mean, summary.mean],
    ['std', reported.std, summary.std],
    ['min', reported.min, summary.min],
    ['max', reported.max, summary.max],
    ...[...reported.percentiles].map(
      ([q, value]) => [`p${+(q * 100).toFixed(6)}`, value, method(ascending, q)] as const,
    ),
  ];
  for (const [name, stated, own] of pairs) {
    if (stated === null || isClose(stated, own)) continue;
    notes.disagreement(`${what} ${name}: the file states ${figure(stated)}, its own values result in ${figure(own)}`);
  }
}

/**
 * A measure of which a file has every value (base units): its exact statistics, against which those that the file states
 * are checked. `scale` makes base units of the latter.
 */
export function checkedExact(
  identity: StatedIdentity,
  values: Float64Array,
  stated: { readonly what: string; readonly statistics: StatedStatistics | null; readonly scale: number },
  method: PercentileMethod,
  notes: ImportNotes,
): MeasureResult[] {
  const { what, statistics, scale } = stated;
  if (statistics !== null) checkStatistics(what, inBaseUnits(statistics, scale), values, method, notes);
  const exact = exactStated(identity, values);
  return exact === null ? [] : [exact];
}

/** Notes the percentile that another method of the tool changes most, where it does so visibly; `values` are of the measure. */
export function notePercentileMethod(
  measure: string,
  stated: ReadonlyMap<number, number>,
  values: Float64Array,
  notes: ImportNotes,
): void {
  const ascending = values.slice().sort();
  const changes = Array.from(stated, ([q, value]) => ({ q, value, ours: linear(ascending, q) }));
  const shareOf = ({ value, ours }: (typeof changes)[number]): number => Math.abs(value / ours - 1);
  const [most] = changes.sort((a, b) => shareOf(b) - shareOf(a));
  if (most === undefined || !(shareOf(most) > VISIBLE)) return;
  const [ours, theirs] = [most.ours, most.value].map((seconds) => quantity(seconds, 'seconds'));
  notes.conversion(
    `${measure} p${+(most.q * 100).toFixed(6)} ${ours} (the tool's percentile of the same values: ${theirs})`,
  );
}

/**
 * The same where the values are too many to be kept: their mean, deviation and extremes are exact, and a percentile
 * must lie within its bounds.
 */
export function checkHistogram(
  what: string,
  reported: ReportedStatistics,
  values: GapHistogram,
  notes: ImportNotes,
): void {
  if (values.n === 0) return;
  const std = Math.sqrt(values.sumOfSquares / values.n);
  for (const [name, stated, own] of [
    ['mean', reported.mean, values.mean],
    ['std', reported.std, std],
    ['min', reported.min, values.min],
    ['max', reported.max, values.max],
  ] as const) {
    if (stated === null || own === null || isClose(stated, own)) continue;
    notes.disagreement(`${what} ${name}: the file states ${figure(stated)}, its own values result in ${figure(own)}`);
  }
  const classic = values.toClassic();
  for (const [q, stated] of reported.percentiles) {
    const bounds = quantileBounds(q, classic);
    if (bounds === null) continue;
    const { low, high } = bounds;
    if ((stated >= low && stated <= high) || isClose(stated, low) || isClose(stated, high)) continue;
    notes.disagreement(
      `${what} p${+(q * 100).toFixed(6)}: the file states ${figure(stated)}, its own values lie between ` +
        `${figure(low)} and ${figure(high)}`,
    );
  }
}

function figure(seconds: number): string {
  return `${Number(seconds.toPrecision(9))} seconds`;
}

function isClose(a: number, b: number): boolean {
  const difference = Math.abs(a - b);
  return (
    difference <= ABSOLUTE_TOLERANCE_SECONDS || difference <= RELATIVE_TOLERANCE * Math.max(Math.abs(a), Math.abs(b))
  );
}
