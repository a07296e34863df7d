import type { MovedSignal, Explanation } from '../../../core/api/comparison.ts';
import type { SignalRule } from '../../../catalog/explanations.ts';
import { publishedName, statisticTitle } from '../../../core/measures/names.ts';
import { benjaminiHochberg } from '../../../core/stats/multiple-testing.ts';
import { median } from '../../../core/stats/percentiles.ts';
import { pairedShift, unpairedShift, type KnownInterval } from '../../../core/stats/shift.ts';
import type { Judgment, MeasureVerdict } from '../../../core/api/verdict.ts';
import type { RunSignals } from './run-signals.ts';

/** False discovery rate up to which a signal counts as moved: of those that are listed, at most one in five by chance. */
export const FALSE_DISCOVERY_RATE = 0.2;

/**
 * The signals that moved between the two sides of a judgment, in the same runs as the gating measures that changed. The test
 * is that of the judgment: signed ranks for pairs, rank sums otherwise. Null when no gating measure changed.
 */
export function explain(
  { design, runs, measures }: Pick<Judgment, 'design' | 'runs' | 'measures'>,
  signals: ReadonlyMap<string, RunSignals>,
  rules: readonly SignalRule[],
): Explanation | null {
  const symptoms = measures.filter(({ gating, verdict }) => gating && CHANGED.has(verdict));
  if (symptoms.length === 0) return null;
  const { a, b, notUsed } = usedRuns(design, runs, signals);
  const tested =
    a.length === 0 || b.length === 0 ? [] : rules.flatMap((rule) => testedOf(rule, symptoms, a, b, design));
  const qs = benjaminiHochberg(tested.map(({ p }) => p));
  const moved = tested
    .map((each, i): MovedSignal => ({ ...each, q: qs[i] ?? 1 }))
    .filter(({ q }) => q <= FALSE_DISCOVERY_RATE)
    .sort((x, y) => x.q - y.q || size(y) - size(x));
  return { signals: moved, compared: tested.length, runs: { a: a.length, b: b.length }, not_used: notUsed };
}

const CHANGED: ReadonlySet<string> = new Set(['regressed', 'suspect', 'improved']);

/** How far it moved, as a logarithm. */
function size({ ratio }: MovedSignal): number {
  return ratio === null ? Infinity : Math.abs(Math.log(ratio));
}

type Side = readonly RunSignals[];

function usedRuns(
  design: Judgment['design'],
  runs: Judgment['runs'],
  signals: ReadonlyMap<string, RunSignals>,
): { readonly a: Side; readonly b: Side; readonly notUsed: Explanation['not_used'] } {
  const of = (ids: readonly string[]): Side =>
    ids.map((run_id) => signals.get(run_id) ?? { run_id, values: [], problem: 'no_server_metrics' });
  const [a, b] = [of(runs.a), of(runs.b)];
  const notUsed = [...a, ...b].flatMap(({ run_id, problem }) => (problem === null ? [] : [{ run_id, problem }]));
  const fits = (run: RunSignals | undefined): boolean => run?.problem === null;
  // Half a pair compares with nothing.
  const both = (_: RunSignals, i: number): boolean => fits(a[i]) && fits(b[i]);
  return design === 'pairs'
    ? { a: a.filter(both), b: b.filter(both), notUsed }
    : { a: a.filter(fits), b: b.filter(fits), notUsed };
}

function testedOf(
  rule: SignalRule,
  symptoms: readonly MeasureVerdict[],
  a: Side,
  b: Side,
  design: Judgment['design'],
): readonly Omit<MovedSignal, 'q'>[] {
  const concerned = symptoms.filter(({ measure }) => rule.symptoms.includes(measure));
  const [first] = concerned;
  if (first === undefined) return [];
  // Symptoms that became worse come first: with them goes the direction in which the signal is expected to move.
  const improved = concerned.every(({ verdict }) => verdict === 'improved');
  const expected = improved ? OPPOSITE[rule.worse] : rule.worse;
  return familiesOf(rule, a, b).flatMap(([familyA, familyB]) => {
    const [from, to] = [valuesOf(rule, familyA, a), valuesOf(rule, familyB, b)];
    if (new Set([...from, ...to]).size < 2) return [];
    const system = rule.families.find(({ family }) => family === familyB)?.system ?? '';
    const [median_a, median_b] = [median(from), median(to)];
    return [
      {
        ...{ signal: rule.signal, title: rule.title, unit: rule.unit, family_a: familyA, family_b: familyB },
        ...{ moved_with: concerned.map(namedStatistic), moved_with_titles: concerned.map(statisticTitle) },
        ...{ median_a, median_b, ratio: median_a > 0 ? median_b / median_a : null },
        ...{ p: pOf(from, to, expected, design), look_at: rule.look_at[system] ?? '' },
      },
    ];
  });
}

const namedStatistic = (key: MeasureVerdict): string =>
  key.stat === 'value' ? publishedName(key) : `${publishedName(key)} ${key.stat}`;

const OPPOSITE = { up: 'down', down: 'up', either: 'either' } as const;

function pOf(
  from: readonly number[],
  to: readonly number[],
  expected: SignalRule['worse'],
  design: Judgment['design'],
): number {
  const exact = (value: number): KnownInterval => [value, value];
  const { p } =
    design === 'pairs'
      ? pairedShift(from.map((value, i) => exact((to[i] ?? NaN) - value)))
      : unpairedShift(from.map(exact), to.map(exact));
  return expected === 'either' ? p.twoSided : p[expected];
}

/**
 * The families that every run of their side has: the same on both, or, where the systems differ, two that measure the same
 * quantity.
 */
function familiesOf({ signal, families }: SignalRule, a: Side, b: Side): readonly (readonly [string, string])[] {
  const everywhere = (side: Side) =>
    families.filter(({ family }) =>
      side.every(({ values }) => values.some((value) => value.signal === signal && value.family === family)),
    );
  const [ofA, ofB] = [everywhere(a), everywhere(b)];
  const same = ofA.filter((family) => ofB.includes(family)).map(({ family }) => [family, family] as const);
  if (same.length > 0) return same;
  const [oneA, ...moreA] = ofA.filter(({ shared }) => shared);
  const [oneB, ...moreB] = ofB.filter(({ shared }) => shared);
  const clear = oneA !== undefined && oneB !== undefined && moreA.length + moreB.length === 0;
  return clear ? [[oneA.family, oneB.family]] : [];
}

function valuesOf({ signal }: SignalRule, family: string, side: Side): readonly number[] {
  return side.map(
    ({ values }) => values.find((value) => value.signal === signal && value.family === family)?.value ?? NaN,
  );
}
