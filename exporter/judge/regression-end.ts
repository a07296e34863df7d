import { recovery } from '../../core/stats/robust-shift.ts';
import { referenceFrom, type Levels } from './baseline-reference.ts';
import { casesOf, gatingOnly, keyText } from './cases.ts';
import { comparableRuns, inOrder } from './history.ts';
import type { Rules } from './rules.ts';
import type { RunFigures } from './run-figures.ts';

export interface RegressionEnd {
  /** The runs since which the regression is over; null while it is not sure. */
  readonly since: readonly RunFigures[] | null;
  /** Further runs that would show it if they look like the baseline; null when they are too many to say. */
  readonly further: number | null;
}

/** More is no help to anyone who waits for it. */
const MAX_FURTHER = 100;

/**
 * Whether an open regression is over: of every measure that regressed, the runs since it was found lie below the margin, and far more
 * likely come from the baseline than from the level of the regression.
 *
 * @param runs all since the regression began
 * @param found how many of them there were when it was found
 * @param regressed the figures that regressed, by `keyText`
 */
export function regressionEnd(
  baseline: readonly RunFigures[],
  runs: readonly RunFigures[],
  found: number,
  { regressed, rules, levels }: { regressed: ReadonlySet<string>; rules: Rules; levels: Levels },
): RegressionEnd {
  const ordered = inOrder(runs);
  const first = ordered.slice(0, found);
  const series = [...first, ...comparableRuns(baseline, ordered.slice(found))];
  const gating = (of: readonly RunFigures[]): readonly RunFigures[] => of.map((run) => gatingOnly(run, rules));
  const cases = casesOf(gating(baseline), gating(series), rules).filter(({ key }) => regressed.has(keyText(key)));
  if (cases.length === 0 || cases.some(({ problem }) => problem !== null)) return { since: null, further: null };
  const reference = referenceFrom(baseline, rules, levels);
  const ends = cases.map(({ a, b, margin }) => recovery(reference(a), b, first.length, Math.log1p(margin)));
  const starts = ends.flatMap(({ from }) => from ?? []);
  if (starts.length === ends.length) return { since: series.slice(Math.min(...starts)), further: 0 };
  const further = Math.max(...ends.map((end) => end.further));
  return { since: null, further: further > MAX_FURTHER ? null : further };
}
