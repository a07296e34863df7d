import { statisticTitle } from '../../core/measures/names.ts';
import {
  detectableShift,
  lookLevel,
  LOOKS,
  outliersOf,
  MIN_REFERENCE,
  dependenceOf,
  referenceOf,
  type Reference,
} from '../../core/stats/robust-shift.ts';
import { changeText, percentText } from '../../core/text/quantities.ts';
import { quoted } from '../../core/text/words.ts';
import { effectRatio, UNUSUAL } from './evidence.ts';
import type { Rules } from './rules.ts';
import type { KnownInterval } from '../../core/stats/shift.ts';
import { casesOf, gatingOnly, type FigureCase } from './cases.ts';
import type { RunFigures } from './run-figures.ts';

/** An accepted run is named when so few others like them would be as far away, and the margin at least. */
const OUTLIER = 0.0005;

/** What checks against accepted runs can see of the measure that scatters most. */
interface BaselineSight {
  /** `time to first token p90`. */
  readonly title: string;
  /** Run-to-run standard deviation as a ratio above 0: 0.031 is 3.1 %. */
  readonly scatter: number;
  /** By number of runs that are judged together, the smallest change that is found; one run is at most suspect. Ratios above 0. */
  readonly detects: readonly { readonly runs: number; readonly change: number }[];
  /** The requested change, and the runs of a night with which each night finds it; null: eight do not suffice. */
  readonly wanted: { readonly change: number; readonly runs: number | null };
}

/** @param wanted the change that checks have to see; null: the margin of the measure */
export function baselineSight(
  accepted: readonly RunFigures[],
  rules: Rules,
  { wanted, levels }: { readonly wanted: number | null; readonly levels: Levels },
): BaselineSight | null {
  const cases = gatingCases(accepted, rules).filter(({ problem }) => problem === null);
  if (accepted.length < MIN_REFERENCE || cases.length === 0) return null;
  const reference = referenceFrom(accepted, rules, levels);
  const chance = (k: number): number => (k === 1 ? UNUSUAL : lookLevel(k, CHECK_ALPHA / cases.length));
  const sights = cases.map(({ key, a, margin }): BaselineSight => {
    const of = reference(a);
    const change = (k: number): number => Math.max(margin, Math.expm1(detectableShift(of, k, chance(k))));
    const target = wanted ?? margin;
    const enough = LOOKS.find((k) => change(k) <= Math.max(target, margin) * (1 + 1e-9));
    return {
      title: statisticTitle(key),
      scatter: Math.expm1(of.scale),
      // More runs find no less than the margin.
      detects: [1, ...LOOKS]
        .map((runs) => ({ runs, change: change(runs) }))
        .filter(({ change: found }, i, all) => i <= 1 || found < (all[i - 1]?.change ?? 0)),
      wanted: { change: target, runs: enough ?? null },
    };
  });
  return sights.toSorted((x, y) => y.scatter - x.scatter)[0] ?? null;
}

/** The same in words, one line. */
export function sightText({ title, scatter, detects, wanted }: BaselineSight): string {
  const [one, ...together] = detects;
  const found = together.map(({ runs, change }) => `${runs} runs find ${plus(change)}`).join(', ');
  const suspected = `${title} scatters by ${percentText(scatter)}: one run is suspect from ${plus(one?.change ?? NaN)}, ${found}`;
  if (wanted.runs === null)
    return `${suspected}; ${plus(wanted.change)} is less than eight runs find: make the runs longer, or more of them`;
  return `${suspected}; to find ${plus(wanted.change)} in one night use ${wanted.runs} runs per night (--num-profile-runs ${wanted.runs})`;
}

interface Outlier {
  readonly run_id: string;
  /** Of the measure that is furthest from the others. */
  readonly title: string;
  /** Ratio to the center of the accepted runs. */
  readonly ratio: number;
}

/** Accepted runs that are unlike the others in a measure that gates. */
function baselineOutliers(accepted: readonly RunFigures[], rules: Rules, levels: Levels): readonly Outlier[] {
  if (accepted.length < MIN_REFERENCE) return [];
  const reference = referenceFrom(accepted, rules, levels);
  const found = new Map<string, Outlier & { readonly size: number }>();
  for (const { key, a, margin, problem } of gatingCases(accepted, rules)) {
    if (problem !== null) continue;
    const of = reference(a);
    for (const place of outliersOf(of, a, OUTLIER)) {
      const run_id = accepted[place]?.run_id ?? '';
      const shift = (a[place]?.[0] ?? NaN) - of.center[0];
      const size = Math.abs(shift);
      if (size < Math.log1p(margin) || size <= (found.get(run_id)?.size ?? 0)) continue;
      found.set(run_id, { run_id, title: statisticTitle(key), ratio: effectRatio(key, shift), size });
    }
  }
  return [...found.values()];
}

/** A line for each outlier, with the command that removes it. */
export function outlierNotes(accepted: readonly RunFigures[], rules: Rules, levels: Levels): readonly string[] {
  return baselineOutliers(accepted, rules, levels).map(
    ({ run_id, title, ratio }) =>
      `accepted run ${run_id} is an outlier (${title} ${changeText(ratio)}); if it was disturbed: ` +
      `llmbench baseline drop ${quoted(run_id)} --reason outlier`,
  );
}

const plus = (ratio: number): string => `+${percentText(ratio)}`;

/** Accepted runs that make the baseline: the last of them. */
export const BASELINE_RUNS = 20;

/** The accepted runs of a configuration with which a further run of it is compared, oldest first. */
export function baselineWindow(
  newestFirst: readonly { readonly run_id: string; readonly fingerprint: string | null }[],
  accepted: ReadonlySet<string>,
  fingerprint: string,
): readonly string[] {
  const like = newestFirst.filter((run) => accepted.has(run.run_id) && run.fingerprint === fingerprint);
  return like
    .slice(0, BASELINE_RUNS)
    .map(({ run_id }) => run_id)
    .reverse();
}

/** The chance of a false change among the measures that gate in one check, in either direction: checks are made every night. */
export const CHECK_ALPHA = 0.003;

/** Of accepted runs, by id, how many times the level was accepted anew before them; default 0. */
export type Levels = ReadonlyMap<string, number>;

/**
 * What further runs are judged against, for the values of one figure in the accepted runs. How much these resemble the run before
 * is estimated from all figures that gate, and holds for every figure.
 */
export function referenceFrom(
  baseline: readonly RunFigures[],
  rules: Rules,
  levelOf: Levels,
): (values: readonly KnownInterval[]) => Reference {
  const levels = baseline.map(({ run_id }) => levelOf.get(run_id) ?? 0);
  const gating = gatingCases(baseline, rules);
  const dependence = dependenceOf(
    gating.flatMap(({ a, problem }) => (problem === null ? [a] : [])),
    levels,
  );
  const level = CHECK_ALPHA / Math.max(1, gating.length);
  return (values) => referenceOf(values, { levels, dependence, level });
}

/** The figures of accepted runs that gate. */
function gatingCases(accepted: readonly RunFigures[], rules: Rules): readonly FigureCase[] {
  const gating = accepted.map((run) => gatingOnly(run, rules));
  return casesOf(gating, [], rules).filter(({ place }) => place >= 0);
}
