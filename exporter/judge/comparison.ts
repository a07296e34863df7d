import { statisticTitle } from '../../core/measures/measure-title.ts';
import { median } from '../../core/stats/percentiles.ts';
import { keyText } from './cases.ts';
import type { Figure, RunFigures } from './run-figures.ts';
import type { Judgment, MeasureVerdict } from './verdict.ts';

/** The values behind a verdict, run by run, in the unit of the measure; null where a run has none. */
export interface ComparedValues {
  readonly a: readonly Figure['value'][];
  readonly b: readonly Figure['value'][];
  /** Medians over the runs of a side, of the runs with a single finite value; null without one. */
  readonly median_a: number | null;
  readonly median_b: number | null;
}

/** The verdict on a statistic with the values that it is about. */
export interface ComparedMeasure extends MeasureVerdict {
  /** The statistic for people, as in the middle of a sentence: `time to first token p50`. */
  readonly title: string;
  readonly values: ComparedValues;
}

/** A judgment with the values that it is about. */
export interface Comparison extends Omit<Judgment, 'measures'> {
  readonly measures: readonly ComparedMeasure[];
}

/** Adds the values to a judgment of these runs. */
export function comparisonOf(judgment: Judgment, runs: readonly RunFigures[]): Comparison {
  const byId = new Map(runs.map((run) => [run.run_id, valuesByKey(run)]));
  const valuesOf = (ids: readonly string[], key: string): readonly Figure['value'][] =>
    ids.map((id) => byId.get(id)?.get(key) ?? null);
  const measures = judgment.measures.map((verdict) => {
    const a = valuesOf(judgment.runs.a, keyText(verdict));
    const b = valuesOf(judgment.runs.b, keyText(verdict));
    return {
      ...verdict,
      title: statisticTitle(verdict),
      values: { a, b, median_a: medianOfKnown(a), median_b: medianOfKnown(b) },
    };
  });
  return { ...judgment, measures };
}

function valuesByKey({ figures }: RunFigures): ReadonlyMap<string, Figure['value']> {
  return new Map(figures.map((figure) => [keyText(figure), figure.value]));
}

function medianOfKnown(values: readonly Figure['value'][]): number | null {
  const known = values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
  return known.length === 0 ? null : median(known);
}
