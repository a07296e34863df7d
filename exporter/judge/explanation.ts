import { signalRules, type SignalFamily, type SignalRule } from '../../catalog/explanations.ts';
import type { Explanation, MovedSignal } from '../../core/api/comparison.ts';
import type { Judgment, MeasureVerdict } from '../../core/api/verdict.ts';
import { publishedName, statisticTitle } from '../../core/measures/names.ts';
import type { SeriesSummary, ServersFile } from '../../core/run/servers-file.ts';
import { benjaminiHochberg } from '../../core/stats/multiple-testing.ts';
import { median } from '../../core/stats/percentiles.ts';
import { pairedShift, unpairedShift, type KnownInterval } from '../../core/stats/shift.ts';
import type { RunStore } from '../store/run-store.ts';
import { readResultFile } from '../store/sealed/read-run-files.ts';
import { readServersFile } from '../store/read-servers.ts';

/** The value of a signal in one run. */
export interface SignalValue {
  readonly signal: string;
  readonly system: string;
  readonly family: string;
  /** In the unit of the rule. */
  readonly value: number;
}

/** What the servers of a run report; `problem` says why nothing is used, else it is null. */
export interface RunSignals {
  readonly run_id: string;
  readonly values: readonly SignalValue[];
  readonly problem: Explanation['not_used'][number]['problem'] | null;
}

/** The signals in `servers.json`; one that is unknown in any of its series is left out. */
export function signalsIn({ series, window }: ServersFile, rules: readonly SignalRule[]): readonly SignalValue[] {
  const byFamily = Map.groupBy(
    series.filter(({ repeats }) => repeats === null),
    ({ family }) => family,
  );
  return rules.flatMap((rule) =>
    rule.families.flatMap((member): SignalValue[] => {
      const found = (byFamily.get(member.family) ?? []).filter(({ labels }) => carries(labels, member));
      const raw =
        member.of === undefined
          ? combined(found, rule, window.seconds)
          : quotient(increase(found), increase(byFamily.get(member.of) ?? []));
      if (raw === null) return [];
      const { system, family, factor = 1 } = member;
      return [{ signal: rule.signal, system, family, value: raw * factor }];
    }),
  );
}

function carries(labels: SeriesSummary['labels'], { labels: wanted = {} }: SignalFamily): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

/** Null without series and where one of them has no value. */
function combined(series: readonly SeriesSummary[], { statistic, across }: SignalRule, seconds: number): number | null {
  if (series.some(({ statistics }) => statistics?.kind === 'histogram')) {
    return quotient(increase(series), total(series.map(countOf)));
  }
  const sum =
    statistic === 'rate'
      ? quotient(increase(series), seconds)
      : total(series.map(({ statistics }) => (statistics?.kind === 'gauge' ? statistics.mean : null)));
  return sum === null || across === 'sum' ? sum : sum / series.length;
}

/** What counters gained; of histograms, the sum of what they observed. */
function increase(series: readonly SeriesSummary[]): number | null {
  return total(
    series.map(({ statistics }) => {
      if (statistics?.kind === 'counter') return statistics.increase;
      return statistics?.kind === 'histogram' ? statistics.sum : null;
    }),
  );
}

function countOf({ statistics }: SeriesSummary): number | null {
  return statistics?.kind === 'histogram' ? statistics.count : null;
}

function total(values: readonly (number | null)[]): number | null {
  if (values.length === 0 || values.includes(null)) return null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

function quotient(value: number | null, of: number | null): number | null {
  return value === null || of === null || !(of > 0) ? null : value / of;
}

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

/** Reads what the servers of the judged runs reported, where a gating measure changed; else null. */
export async function loadExplanation(
  store: RunStore,
  judgment: Pick<Judgment, 'design' | 'runs' | 'measures'>,
): Promise<Explanation | null> {
  if (explain(judgment, new Map(), []) === null) return null;
  const signals = new Map<string, RunSignals>();
  // One after the other: the files of long runs are large.
  for (const id of new Set([...judgment.runs.a, ...judgment.runs.b])) signals.set(id, await signalsOf(store, id));
  return explain(judgment, signals, signalRules());
}

async function signalsOf(store: RunStore, run_id: string): Promise<RunSignals> {
  try {
    const folder = store.endedPathOf(run_id);
    const { servers } = await readResultFile(folder);
    if (servers === null) return { run_id, values: [], problem: 'no_server_metrics' };
    if (servers.exact !== true) return { run_id, values: [], problem: 'not_exact' };
    const file = await readServersFile(folder);
    if (file === null) return { run_id, values: [], problem: 'no_server_metrics' };
    const { inexact_families: late = [] } = servers;
    const series = file.series.filter(({ target, family }) => {
      return !late.some((each) => each.target === target && each.family === family);
    });
    return { run_id, values: signalsIn({ ...file, series }, signalRules()), problem: null };
  } catch {
    // An explanation is no evidence: a damaged file of the servers must not keep the verdict back.
    return { run_id, values: [], problem: 'unreadable' };
  }
}
