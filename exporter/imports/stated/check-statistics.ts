import { quantileBounds } from '../../../core/histogram/bounds.ts';
import type { GapHistogram } from '../../../core/measures/chunk-reading.ts';
import { percentile as linear, summarize, PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import { quantity } from '../../../core/text/quantities.ts';
import type { MeasureResult, DistributionResult } from '../../../core/run/result.ts';
import type { ImportNotes } from '../import-notes.ts';
import {
  exactStated,
  inBaseUnits,
  type ReportedStatistics,
  type StatedIdentity,
  type StatedStatistics,
} from './stated-measures.ts';
import type { Unit } from '../../../core/run/statistic.ts';

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

/** Units of what is never negative. A ratio may be a difference. */
const NEVER_NEGATIVE: ReadonlySet<Unit> = new Set<Unit>([
  'seconds',
  'tokens',
  'requests',
  'requests_per_second',
  'tokens_per_second',
  'documents_per_second',
  'images',
  'images_per_second',
  'bytes',
]);
/** Two clocks may be between the due time and the time of sending. */
const BETWEEN_CLOCKS = 'schedule_delay';

/** Figures of one statistic may be rounded, and percentiles estimated. */
const ORDER_TOLERANCE = 1e-3;

/**
 * The figures that a file states, without those that cannot be true: figures of no request, and negative ones, are unknown,
 * and counted in the notes. `ok`: stated number of ok requests; null if unknown.
 */
export function plausibleMeasures(
  measures: readonly MeasureResult[],
  ok: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  for (const result of measures) noteValuesOfNothing(result, ok, notes);
  return measures.map((result) => withoutNegative(withoutFiguresOfNothing(result, ok, notes), notes));
}

/** Notes where the statistics of a distribution are not in order: they contradict each other. */
export function noteDisorder(measures: readonly MeasureResult[], notes: ImportNotes): void {
  for (const result of measures) if (result.kind === 'distribution') noteDisorderOf(result, notes);
}

const RATES: ReadonlySet<Unit> = new Set<Unit>([
  'requests_per_second',
  'tokens_per_second',
  'documents_per_second',
  'images_per_second',
]);

function noteValuesOfNothing(result: MeasureResult, ok: number | null, notes: ImportNotes): void {
  if (result.kind === 'scalar' || result.population !== 'ok' || ok !== 0 || (result.n ?? 0) === 0) return;
  notes.disagreement(`${result.measure}: the file states ${result.n} values, and 0 ok requests`);
}

function withoutFiguresOfNothing(result: MeasureResult, ok: number | null, notes: ImportNotes): MeasureResult {
  const ofNone = result.population === 'ok' && ok === 0;
  if (
    result.kind === 'scalar'
      ? !(ofNone && RATES.has(result.unit) && result.value !== 0)
      : (result.n ?? (ofNone ? 0 : 1)) > 0
  )
    return result;
  return mapFigures(result, (figure, name) => {
    // Tools write 0 where there is nothing to measure.
    if (figure !== 0) notes.count('figures of 0 requests read as unknown', `${result.measure} ${name}`);
    return null;
  });
}

function withoutNegative(result: MeasureResult, notes: ImportNotes): MeasureResult {
  if (!NEVER_NEGATIVE.has(result.unit) || result.measure === BETWEEN_CLOCKS) return result;
  return mapFigures(result, (figure, name) => {
    if (figure >= 0) return figure;
    notes.count('negative values read as unknown', `${result.measure} ${name}`);
    return null;
  });
}

type FigureChange = (figure: number, name: string) => number | null;

function mapFigures(result: MeasureResult, change: FigureChange): MeasureResult {
  const changed = (figure: number | null, name: string): number | null =>
    figure === null ? null : change(figure, name);
  if (result.kind === 'scalar') return { ...result, value: changed(result.value, 'value') };
  const summary = {
    ...{ mean: changed(result.mean, 'mean'), std: changed(result.std, 'std') },
    ...{ min: changed(result.min, 'min'), max: changed(result.max, 'max') },
  };
  const percentiles = { ...result.percentiles };
  for (const name of PERCENTILE_NAMES) {
    const percentile = percentiles[name];
    percentiles[name] = { ...percentile, value: changed(percentile.value, name) };
  }
  return { ...result, ...summary, percentiles };
}

interface Named {
  readonly name: string;
  readonly value: number;
}

const named = (name: string, value: number): Named => ({ name, value });

function noteDisorderOf(result: DistributionResult, notes: ImportNotes): void {
  const { measure, unit, mean, min, max, percentiles } = result;
  const ordered = [['min', min], ...PERCENTILE_NAMES.map((name) => [name, percentiles[name].value]), ['max', max]] as [
    string,
    number | null,
  ][];
  const known = ordered.flatMap(([name, value]) => (value === null ? [] : [named(name, value)]));
  const pairs: (readonly [Named, Named])[] = known.slice(1).map((high, i) => [known[i] ?? high, high]);
  pairs.push([named('min', min ?? -Infinity), named('mean', mean ?? Infinity)]);
  pairs.push([named('mean', mean ?? -Infinity), named('max', max ?? Infinity)]);
  const wrong = pairs.find(([low, high]) => low.value - high.value > ORDER_TOLERANCE * Math.abs(low.value));
  if (wrong === undefined) return;
  const [low, high] = wrong.map(({ name, value }) => `${name} ${Number(value.toPrecision(9))}`);
  notes.disagreement(`${measure}: the file states ${low ?? ''}, above ${high ?? ''} ${unit}`);
}
