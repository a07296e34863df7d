import type { Comparison } from '../../core/api/comparison.ts';
import { statisticTitle } from '../../core/measures/names.ts';
import { median } from '../../core/stats/percentiles.ts';
import { keyText } from './cases.ts';
import type { Figure, RunFigures } from './run-figures.ts';
import type { Judgment, MeasureVerdict, Method } from '../../core/api/verdict.ts';

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
  const scenarioOf = new Map(runs.map(({ run_id, scenario }) => [run_id, scenario]));
  const scenarios = (ids: readonly string[]): readonly string[] => [
    ...new Set(ids.flatMap((id) => scenarioOf.get(id) ?? [])),
  ];
  return {
    ...judgment,
    measures,
    scenarios: { a: scenarios(judgment.runs.a), b: scenarios(judgment.runs.b) },
    effect_meaning: effectMeaning(judgment.measures),
  };
}

/** Of the measures that gate where they have an effect; they are judged alike, except in a history. */
function effectMeaning(measures: readonly MeasureVerdict[]): string | null {
  const gating = measures.filter((one) => one.gating && one.effect !== null);
  const used = gating.length > 0 ? gating : measures.filter(({ effect }) => effect !== null);
  const meanings = [...new Set(used.flatMap(({ method }) => (method === null ? [] : meaningOf(method))))];
  return meanings.length === 0 ? null : meanings.join('; or ');
}

function meaningOf(method: Method): string | readonly never[] {
  switch (method) {
    case 'rank_sum_exact':
    case 'rank_sum_normal':
      return 'the median of the ratios of each run of B to each run of A, not the ratio of the medians of A and of B';
    case 'signed_rank_exact':
    case 'signed_rank_normal':
      return 'the middle of the ratios of B to A in each pair (Hodges-Lehmann), not the ratio of the medians of A and of B';
    case 'robust_shift':
      return 'the ratio of the middle of the judged runs to that of the baseline, in which single runs count little';
    default:
      return [];
  }
}

/** The scenario, or those of both sides where they differ: `chat-vllm (A), chat-sglang (B)`. */
export function scenarioText({ scenario, scenarios }: Comparison): string {
  const names = [...new Set([...scenarios.a, ...scenarios.b])];
  if (names.length < 2) return scenario;
  const side = (of: readonly string[], name: string): string => `${of.join(', ')} (${name})`;
  return `${side(scenarios.a, 'A')}, ${side(scenarios.b, 'B')}`;
}

function valuesByKey({ figures }: RunFigures): ReadonlyMap<string, Figure['value']> {
  return new Map(figures.map((figure) => [keyText(figure), figure.value]));
}

function medianOfKnown(values: readonly Figure['value'][]): number | null {
  const known = values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
  return known.length === 0 ? null : median(known);
}
