import type { Comparison } from '../../core/api/comparison.ts';
import type { Judgment, MeasureVerdict, Needs, PreflightFinding, VerdictName, Method } from '../../core/api/verdict.ts';
import { statisticTitle } from '../../core/measures/names.ts';
import { median } from '../../core/stats/percentiles.ts';
import { casesOf, keyText } from './cases.ts';
import type { RunFigures, Figure } from './run-figures.ts';
import { larger } from './decide.ts';
import { pairsEvidence, setsEvidence } from './evidence.ts';
import { judgeCases, orderDoubts, unknownOrder, type JudgedHow } from './judge-cases.ts';
import { preflight, type AcceptedDifference } from './preflight.ts';
import { defaultRules, MAX_PRIMARY, type Rules } from './rules.ts';
import { overallReason, overallSentence } from './sentences.ts';
import { onComparableDays, sliceDoubts, type PairedSlices } from './slice-doubts.ts';

export interface CompareOptions {
  /** a[i] and b[i] are a pair: measured one right after the other, with the same plan. */
  readonly paired?: boolean;
  /** Default: `defaultRules` of the runs. */
  readonly rules?: Rules;
  /** What may differ between the sets; default: nothing. */
  readonly accepted?: AcceptedDifference | undefined;
  /** Of pairs of slices of servers: `a` on other days, see `PairedSlices`. */
  readonly days?: PairedSlices['days'];
}

/**
 * Judges the runs of `b` against those of `a`. The unit of evidence is a run; the effect is the ratio B ÷ A.
 *
 * Pairs: Hodges and Lehmann's estimate of the log ratios and the interval that inverts the exact signed-rank test. Sets: the
 * same with the rank-sum test, and where their runs follow each other in time, as slices of servers also do in pairs, only a change that no trend and no dependence
 * of the runs explains (`orderDoubts`). The gating measures share alpha by Holm's procedure; each interval is that of its step.
 *
 * @throws RangeError when a side is empty, pairs are not of equal number, or more than five measures gate
 */
export function compare(a: readonly RunFigures[], b: readonly RunFigures[], options: CompareOptions = {}): Judgment {
  const { paired = false, rules = defaultRules([...a, ...b]), accepted, days = [] } = options;
  if (a.length === 0 || b.length === 0) throw new RangeError('each side of a comparison needs at least one run');
  if (paired && a.length !== b.length) throw new RangeError(`${a.length} and ${b.length} runs are not pairs`);
  const slices = paired && rules.origin === 'server' ? onComparableDays({ a, b, days }) : null;
  return judge(a, b, rules, {
    design: paired ? 'pairs' : 'sets',
    evidenceOf: ({ a: from, b: to }) => (paired ? pairsEvidence(from, to) : setsEvidence(from, to)),
    doubts: slices !== null ? sliceDoubts(slices, rules) : paired ? new Map() : orderDoubts(a, b, rules),
    findings: [...preflight(a, b, accepted), ...(paired ? (slices?.findings ?? []) : unknownOrder(a, b))],
  });
}

/** What every design has in common: preflight, the figures one by one, and the verdict over those that gate. */
export function judge(
  a: readonly RunFigures[],
  b: readonly RunFigures[],
  rules: Rules,
  how: Pick<JudgedHow, 'design' | 'evidenceOf' | 'doubts'> &
    Partial<Pick<JudgedHow, 'alpha'>> & { readonly findings?: readonly PreflightFinding[] },
): Judgment {
  if (rules.primary.length > MAX_PRIMARY) {
    throw new RangeError(`${rules.primary.length} measures gate; at most ${MAX_PRIMARY} can`);
  }
  const findings = how.findings ?? preflight(a, b);
  const forbidden = findings.some(({ outcome }) => outcome === 'failed');
  // What only one side has is not compared, except that a measure that gates must not vanish unseen.
  const cases = casesOf(a, b, rules).filter((each) => each.place >= 0 || (each.a.length > 0 && each.b.length > 0));
  const measures = judgeCases(cases, { alpha: rules.alpha, ...how, forbidden });
  const gating = measures.filter((one) => one.gating);
  const verdict = forbidden ? 'undecided' : worst(gating.map((one) => one.verdict));
  return {
    design: how.design,
    scenario: b[0]?.scenario ?? '',
    verdict,
    reason: overallReason({ verdict, preflight: findings, measures }),
    sentence: overallSentence(verdict, gating, findings),
    runs: { a: a.map(({ run_id }) => run_id), b: b.map(({ run_id }) => run_id) },
    left_out: null,
    preflight: findings,
    measures,
    needs: needsOfAll(gating, verdict),
  };
}

const FROM_WORST: readonly VerdictName[] = ['regressed', 'suspect', 'undecided', 'improved', 'unchanged'];

/** The worst of several verdicts; nothing is undecided. */
export function worst(verdicts: readonly VerdictName[]): VerdictName {
  return FROM_WORST.find((verdict) => verdicts.includes(verdict)) ?? 'undecided';
}

/** What interleaved pairs would decide needs no further runs of the same order first. */
function needsOfAll(gating: readonly MeasureVerdict[], verdict: VerdictName): Needs | null {
  const open = gating.filter((one) => one.verdict === verdict);
  const byOrder = open.filter(({ reason }) => reason === 'time_order');
  return (byOrder.length > 0 ? byOrder : open).map(({ needs }) => needs).reduce(larger, null);
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
