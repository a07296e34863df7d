import { quantileBounds } from '../../../core/histogram/bounds.ts';
import type { GapHistogram } from '../../../core/measures/chunk-reading.ts';
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
  check(what, reported, { ...summary, percentile: (q) => [method(ascending, q), method(ascending, q)] }, notes);
}

/** What the values of a file are, against which its figures are checked. */
interface OwnFigures extends Omit<ReportedStatistics, 'percentiles'> {
  /** What a percentile is certain to lie between; null where that is unknown. */
  readonly percentile: (q: number) => readonly [low: number, high: number] | null;
}

function check(what: string, reported: ReportedStatistics, own: OwnFigures, notes: ImportNotes): void {
  const disagrees = (name: string, stated: number, low: number, high: number): void => {
    if ((stated >= low && stated <= high) || isClose(stated, low) || isClose(stated, high)) return;
    const are = low === high ? `result in ${figure(low)}` : `lie between ${figure(low)} and ${figure(high)}`;
    notes.disagreement(`${what} ${name}: the file states ${figure(stated)}, its own values ${are}`);
  };
  for (const name of ['mean', 'std', 'min', 'max'] as const) {
    const [stated, value] = [reported[name], own[name]];
    if (stated !== null && value !== null) disagrees(name, stated, value, value);
  }
  for (const [q, stated] of reported.percentiles) {
    const bounds = own.percentile(q);
    if (bounds !== null) disagrees(`p${+(q * 100).toFixed(6)}`, stated, ...bounds);
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
  const classic = values.toClassic();
  const percentile = (q: number): readonly [number, number] | null => {
    const bounds = quantileBounds(q, classic);
    return bounds && [bounds.low, bounds.high];
  };
  const { mean, min, max } = values;
  check(what, reported, { mean, std: Math.sqrt(values.sumOfSquares / values.n), min, max, percentile }, notes);
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
