import { dependenceOf, referenceOf, type Reference } from '../../core/stats/robust-shift.ts';
import type { KnownInterval } from '../../core/stats/shift.ts';
import { casesOf, gatingOnly, type FigureCase } from './cases.ts';
import type { Rules } from './rules.ts';
import type { RunFigures } from './run-figures.ts';

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
export function gatingCases(accepted: readonly RunFigures[], rules: Rules): readonly FigureCase[] {
  const gating = accepted.map((run) => gatingOnly(run, rules));
  return casesOf(gating, [], rules).filter(({ place }) => place >= 0);
}
