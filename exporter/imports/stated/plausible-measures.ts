import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { DistributionResult, MeasureResult } from '../../../core/run/result.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import type { ImportNotes } from '../import-notes.ts';

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
